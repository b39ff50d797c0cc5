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
    "src/torchspeed/models/checks.py": "0fb48473a0da0056",
    "src/torchspeed/models/darnn.py": "b51dec53ca0f7c0c",
    "src/torchspeed/models/deepar.py": "4a5c92ef6330bd51",
    "src/torchspeed/models/dlinear.py": "9480feaa1480f048",
    "src/torchspeed/models/dsanet.py": "5725027ba27aaff9",
    "src/torchspeed/models/dsanet_tower.py": "8a95f5fca2f6c89a",
    "src/torchspeed/models/encoder_decoder.py": "44bdd8f24740d2c1",
    "src/torchspeed/models/flux_cnn.py": "d9a99fa00304df9b",
    "src/torchspeed/models/instance_norm.py": "dceeb68884b048a2",
    "src/torchspeed/models/itransformer.py": "15953922f84a4a65",
    "src/torchspeed/models/lenet5.py": "dec936e6251cbe4c",
    "src/torchspeed/models/lstnet.py": "8e6f0b6f005864cf",
    "src/torchspeed/models/nhits.py": "03307b6428730f91",
    "src/torchspeed/models/patchtst.py": "69ee7697436ea4af",
    "src/torchspeed/models/positions.py": "82a78a94814a5726",
    "src/torchspeed/models/resnet18_mnist.py": "a517b799a6fd94e6",
    "src/torchspeed/models/self_attention.py": "41dec42d7245bf67",
    "src/torchspeed/models/tcn.py": "a020527d5d0fc3b8",
    "src/torchspeed/models/timesnet.py": "56f7194b10e7878e",
    "src/torchspeed/models/tpa_lstm.py": "169aa9e6a3a9ce47",
    "src/torchspeed/models/tsmixer.py": "d13751646d749b6c",
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
