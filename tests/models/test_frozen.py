"""What plain models compute never changes under one code version: their series are of torch."""

import ast
import hashlib
import json
from pathlib import Path

import pytest

from benchmarks.plain import PlainModels
from benchmarks.plain_compiled import PlainCompilation, PlainCompiled
from torchspeed.workloads import get_workload

CODE_VERSIONS = {PlainModels: "1", PlainCompiled: "2", PlainCompilation: "1"}
"""Of the suites of plain models, when the digests below were taken."""
DIGESTS = {
    "benchmarks/plain.py": "f10cbe981bc7fcc8",
    "benchmarks/plain_compiled.py": "f3be1c0544f7a699",
    "src/torchspeed/models/checks.py": "40804970d175bcc4",
    "src/torchspeed/models/darnn.py": "c08db9872227deab",
    "src/torchspeed/models/deepar.py": "888fc2e7787cb92c",
    "src/torchspeed/models/dlinear.py": "754322119acd388d",
    "src/torchspeed/models/dsanet.py": "8e3450000675e462",
    "src/torchspeed/models/dsanet_tower.py": "f8232de1542f6baf",
    "src/torchspeed/models/encoder_decoder.py": "074bf2738b3ce893",
    "src/torchspeed/models/flux_cnn.py": "84d3db537713c436",
    "src/torchspeed/models/instance_norm.py": "2f556d41dc0e7301",
    "src/torchspeed/models/itransformer.py": "0ee5c603380da133",
    "src/torchspeed/models/lenet5.py": "3f94ae00d2d48a43",
    "src/torchspeed/models/lstnet.py": "e069feff35257dbd",
    "src/torchspeed/models/nhits.py": "2b1c8196cb82df28",
    "src/torchspeed/models/patchtst.py": "a5193ae711eb20ed",
    "src/torchspeed/models/positions.py": "25b4df5e87769cb9",
    "src/torchspeed/models/resnet18_mnist.py": "2eb855a6b3392c04",
    "src/torchspeed/models/self_attention.py": "376cf1aa8492cd21",
    "src/torchspeed/models/tcn.py": "1011b3ba8af73bac",
    "src/torchspeed/models/timesnet.py": "837bf328ecd60230",
    "src/torchspeed/models/tpa_lstm.py": "ae35f6237ac13f4c",
    "src/torchspeed/models/tsmixer.py": "bfda1249127c960a",
}


def digest(path: Path) -> str:
    """Of the code alone: documentation, comments and layout may change."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            node.body = [part for part in node.body if not _is_text(part)] or [ast.Pass()]
    return hashlib.sha256(ast.unparse(tree).encode()).hexdigest()[:16]


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


@pytest.mark.parametrize("path", DIGESTS)
def test_a_plain_model_changes_only_with_a_new_code_version(root: Path, path: str) -> None:
    now = digest(root / path)
    versions = {suite: suite.code_version for suite in CODE_VERSIONS}
    assert (versions, now) == (CODE_VERSIONS, DIGESTS[path]), (
        f"the code of {path} has changed. If a pass now runs other operators, series of plain "
        "models measure something else: raise code_version in benchmarks/plain.py and "
        "plain_compiled.py (which begins new series), and name the change in CHANGELOG.md. Put "
        f"the digest {now!r}, and the new version, into {__file__}"
    )


def test_every_plain_model_with_stored_values_is_frozen(root: Path) -> None:
    lists = (root / "results").glob("*/benchmarks.json")
    suites = [
        json.loads(path.read_bytes()).get("plain.PlainModels.time_forward") for path in lists
    ]
    stored = {ast.literal_eval(name) for suite in suites if suite for name in suite["params"][0]}
    assert stored
    models = {get_workload(workload).model for workload in stored}
    missing = {f"src/torchspeed/models/{model}.py" for model in models} - set(DIGESTS)
    assert not missing, f"put these and their digests into {__file__}"
