"""Figures that one process measures for many cases (`setup_cache`) and the cases look up."""


def measure_each(keys, measure):
    """Call ``measure`` for each key; what becomes of one must not hide the others.

    It returns a dictionary of figures, or raises: NotImplementedError for what cannot
    run here, anything else for a failure.
    """
    found = {}
    for key in keys:
        try:
            found[key] = measure(key)
        except NotImplementedError as reason:
            found[key] = {"skipped": str(reason)}
        except Exception as error:
            found[key] = {"failed": f"{type(error).__name__}: {error}"}
    return found


def look_up(found, key):
    """What was measured for a key, or the exception that tells asv why it was not."""
    if "skipped" in found[key]:
        raise NotImplementedError(found[key]["skipped"])
    if "failed" in found[key]:
        raise RuntimeError(found[key]["failed"])
    return found[key]
