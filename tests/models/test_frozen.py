"""What plain models compute never changes under one code version: their series are of torch."""

import ast
import hashlib
import json
from pathlib import Path

from benchmarks.plain import PlainModels
from benchmarks.plain_compiled import PlainCompilation, PlainCompiled
from tests.conftest import ROOT
from torchspeed.workloads import get_workload

CODE_VERSIONS = {PlainModels: "1", PlainCompiled: "2", PlainCompilation: "1"}
"""Of the suites of plain models, when the digest below was taken."""
MODELS = ["darnn", "deepar", "dlinear", "dsanet", "encoder_decoder", "flux_cnn", "itransformer"]
MODELS += ["lenet5", "lstnet", "nhits", "patchtst", "resnet18_mnist", "tcn", "timesnet"]
MODELS += ["tpa_lstm", "tsmixer"]
PARTS = ["checks", "dsanet_tower", "instance_norm", "positions", "self_attention"]
FILES = ["benchmarks/plain.py", "benchmarks/plain_compiled.py"]
FILES += [f"src/torchspeed/models/{name}.py" for name in (*MODELS, *PARTS)]
DIGEST = "1c6d365a761530e2"


def code(path: Path) -> str:
    """Return the code alone: documentation, comments and layout may change."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            node.body = [part for part in node.body if not _is_text(part)] or [ast.Pass()]
    return ast.unparse(tree)


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def test_plain_models_change_only_with_a_new_code_version() -> None:
    now = hashlib.sha256("".join(code(ROOT / path) for path in FILES).encode()).hexdigest()[:16]
    versions = {suite: suite.code_version for suite in CODE_VERSIONS}
    assert (versions, now) == (CODE_VERSIONS, DIGEST), (
        f"the code of one of {FILES} has changed. If a pass now runs other operators, series of "
        "plain models measure something else: raise code_version in benchmarks/plain.py and "
        "plain_compiled.py (which begins new series), and name the change in CHANGELOG.md. Put "
        f"the digest {now!r}, and the new version, into {__file__}"
    )


def test_every_plain_model_with_stored_values_is_frozen() -> None:
    lists = (ROOT / "results").glob("*/benchmarks.json")
    measured = "plain.PlainModels.time_forward"
    suites = [json.loads(path.read_bytes()).get(measured) for path in lists]
    stored = {ast.literal_eval(name) for suite in suites if suite for name in suite["params"][0]}
    assert stored
    missing = {get_workload(workload).model for workload in stored} - set(MODELS)
    assert not missing, f"add these to MODELS, and the new digest, in {__file__}"
