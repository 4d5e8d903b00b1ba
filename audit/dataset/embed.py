"""Embeddings for catalogs that bring none: from categories and titles."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from audit.dataset.ids import Ids

DIMENSIONS = 24


def make_embeddings(catalog: pa.Table) -> tuple[npt.NDArray[np.float32], str] | None:
    """TF-IDF of the categories, else of the titles' words, reduced by truncated SVD.

    Returns vectors in the catalog's row order (all zero for rows without text) and a sentence that
    says how they were made; ``None`` where there is nothing to make them from.
    """
    if "categories" in catalog.column_names:
        documents = [list(tokens or ()) for tokens in catalog["categories"].to_pylist()]
        source = "categories"
    elif "title" in catalog.column_names:
        documents = [(title or "").lower().split() for title in catalog["title"].to_pylist()]
        source = "titles"
    else:
        return None
    if len({token for document in documents for token in document}) < 2:
        return None
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer

    # By item id, so that the order of rows does not move the decomposition.
    order = np.argsort(Ids.of([catalog["item_id"]]).codes(catalog["item_id"]), kind="stable")
    matrix = TfidfVectorizer(analyzer=lambda document: document).fit_transform(
        [documents[row] for row in order]
    )
    dimensions = min(DIMENSIONS, min(matrix.shape) - 1)
    if dimensions < 1:
        return None
    with np.errstate(divide="ignore", invalid="ignore"):  # shares of a variance that may be 0
        reduced = TruncatedSVD(dimensions, random_state=0).fit_transform(matrix)
    vectors = np.zeros((len(documents), dimensions), np.float32)
    vectors[order] = reduced
    vectors[np.linalg.norm(vectors, axis=1) < 1e-6] = 0
    sentence = f"made from {source}: TF-IDF, truncated SVD with {dimensions} dimensions"
    return vectors, sentence
