"""The document does not describe what the HTTP parser itself refuses, so no request is too large for it."""

from urllib.parse import quote, urlencode

import schemathesis

# Of the 16 KiB that the parser takes. The rest is for the headers that every request has.
LARGEST = 12_000


@schemathesis.hook
def filter_case(context, case):
    path = sum(len(quote(str(value))) for value in (case.path_parameters or {}).values())
    query = len(urlencode(case.query or {}, doseq=True))
    headers = sum(len(name) + len(str(value)) for name, value in (case.headers or {}).items())
    return path + query + headers < LARGEST
