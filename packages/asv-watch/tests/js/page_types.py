"""Writes the types of the page's data for tsc, from the structs that Python encodes.

`make lint` runs it: ``python -m tests.js.page_types``. A struct `ChangeData` is `Change` there.
"""

import json
from pathlib import Path

from msgspec import inspect

from asv_watch.site.data_files import BenchmarkFile, BenchmarkSource
from asv_watch.site.index import Index
from asv_watch.site.release_data import ReleaseHistoryData

_PLAIN = {
    inspect.IntType: "number",
    inspect.FloatType: "number",
    inspect.StrType: "string",
    inspect.BoolType: "boolean",
    inspect.NoneType: "null",
}

_KNOWN: dict[str, str] = {}
"""Declarations of structs, by name."""


def _type(of: inspect.Type) -> str:
    match of:
        case inspect.LiteralType():
            text = " | ".join(map(json.dumps, of.values))
        case inspect.EnumType():
            text = " | ".join(json.dumps(word.value) for word in of.cls)
        case inspect.UnionType():
            text = " | ".join(map(_type, of.types))
        case inspect.DictType():
            text = f"Record<string, {_type(of.value_type)}>"
        case inspect.TupleType():
            text = f"[{', '.join(map(_type, of.item_types))}]"
        case inspect.ListType() | inspect.VarTupleType():
            text = f"Array<{_type(of.item_type)}>"
        case inspect.StructType():
            text = of.cls.__name__.removesuffix("Data")
            if text not in _KNOWN:
                _KNOWN[text] = _declared(text, of)
        case _:
            text = _PLAIN[type(of)]
    return text


def _declared(name: str, of: inspect.StructType) -> str:
    omits = of.cls.__struct_config__.omit_defaults
    fields = [
        f"{field.encode_name}{'?' if omits and not field.required else ''}: {_type(field.type)}"
        for field in of.fields
    ]
    if of.array_like:
        return f"type {name} = [{', '.join(fields)}];\n"
    return f"interface {name} {{ {'; '.join(fields)} }}\n"


if __name__ == "__main__":
    file = Path("build/page-data.d.ts")
    file.parent.mkdir(exist_ok=True)
    for struct in (Index, BenchmarkFile, BenchmarkSource, ReleaseHistoryData):
        _type(inspect.type_info(struct))
    file.write_text("".join(_KNOWN.values()), encoding="utf-8")
