"""DuckDB: six metrics of two models, written by hand in SQL, by the definitions that the audit prints.

A user counts who has a relevant item, and a list under one of the models.
"""

from __future__ import annotations

import json
import sys

import duckdb
from shared import K

TRUTH = """
CREATE TEMP TABLE truth AS
SELECT user_id, item_id, grade FROM read_parquet($relevance) WHERE grade > 0
"""
IDEAL = """
CREATE TEMP TABLE ideal AS
SELECT
    user_id,
    count(*) AS relevant,
    sum((2 ** grade - 1) / log2(place + 1)) FILTER (place <= $k) AS dcg
FROM (SELECT *, row_number() OVER (PARTITION BY user_id ORDER BY grade DESC) AS place FROM truth)
GROUP BY user_id
"""
MODEL = """
WITH hits AS (
    SELECT
        user_id, rank, grade,
        row_number() OVER (PARTITION BY user_id ORDER BY rank) AS ordinal
    FROM read_parquet($lists) JOIN truth USING (user_id, item_id)
    WHERE rank <= $k
),
found AS (
    SELECT
        user_id,
        sum((2 ** grade - 1) / log2(rank + 1)) AS dcg,
        sum(ordinal / rank) AS precisions,
        1 / min(rank) AS reciprocal,
        count(*) AS hits
    FROM hits GROUP BY user_id
)
SELECT
    avg(coalesce(found.dcg, 0) / ideal.dcg) AS ndcg,
    avg(coalesce(precisions, 0) / relevant) AS map,
    avg(coalesce(reciprocal, 0)) AS mrr,
    avg(coalesce(hits, 0) / $k) AS precision,
    avg(coalesce(hits, 0) / relevant) AS recall,
    avg((hits IS NOT NULL)::INT) AS hit_rate
FROM ideal LEFT JOIN found USING (user_id)
WHERE user_id IN (SELECT user_id FROM read_parquet($all_lists) WHERE rank = 1)
"""

baseline, candidate, relevance = sys.argv[1:]
connection = duckdb.connect()
connection.execute(TRUTH, {"relevance": relevance})
connection.execute(IDEAL, {"k": K})
values = {}
for model, path in (("baseline", baseline), ("candidate", candidate)):
    cursor = connection.execute(MODEL, {"lists": path, "all_lists": [baseline, candidate], "k": K})
    names = [column[0] for column in cursor.description]
    values[model] = {
        f"{name}@{K}": value for name, value in zip(names, cursor.fetchone(), strict=True)
    }
print(json.dumps({"values": values}))
