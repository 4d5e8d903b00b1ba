"""Lists to a file."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

from audit.errors import ConfigError


def write_table(table: pa.Table, path: Path) -> None:
    """Write Parquet or CSV, by the suffix.

    Raises
    ------
    ConfigError
        Another suffix, or a place that cannot be written.
    """
    try:
        if path.suffix == ".parquet":
            import pyarrow.parquet

            pyarrow.parquet.write_table(table, path)
        elif path.suffix == ".csv":
            import pyarrow.csv

            pyarrow.csv.write_csv(table, path)
        else:
            raise ConfigError(f"{path}: name a file that ends in .parquet or .csv.")
    except OSError as error:
        raise ConfigError(f"{path}: cannot be written: {error.strerror or error}.") from error
