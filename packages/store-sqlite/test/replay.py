"""Runs statements on a database, and counts the instructions of SQLite's virtual machine for each.

Reads from its standard input, a line each: ["SQL", parameters]. Writes for each line: [instructions,
rows]. A parameter that is an array has the bytes of a blob.
"""

import json
import sqlite3
import sys

database = sqlite3.connect(sys.argv[1], isolation_level=None)
steps = 0


def count():
    global steps
    steps += 1


# The number of calls is the number of instructions.
database.set_progress_handler(count, 1)


def value(parameter):
    return bytes(parameter) if isinstance(parameter, list) else parameter


for line in sys.stdin:
    sql, given = json.loads(line)
    if isinstance(given, dict):
        parameters = {name: value(parameter) for name, parameter in given.items()}
    else:
        parameters = [value(parameter) for parameter in given]
    steps = 0
    cursor = database.execute(sql, parameters)
    rows = len(cursor.fetchall()) or max(cursor.rowcount, 0)
    print(json.dumps([steps, rows]))
