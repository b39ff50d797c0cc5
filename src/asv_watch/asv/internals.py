"""Everything private or undocumented of asv and asv_runner that this package uses.

asv has no interface for what we add, so we replace some of its functions and read some of its
private attributes. Nothing outside `asv_watch.asv` does so, and nothing inside it that is
not listed here. `verify` is called when asv loads the plugin, so that another release of asv is
refused instead of measuring wrongly.
"""

from __future__ import annotations

import importlib
import inspect
from typing import Any

import asv

from asv_watch.errors import WatchError

REPLACED = {
    "asv.benchmarks.Benchmarks.save": "self",
    "asv.commands.run.run_benchmarks": "benchmarks env results show_stderr quick profile "
    "extra_params record_samples append_samples run_rounds launch_method",
    "asv.commands.run.skip_benchmarks": "benchmarks env results",
    "asv.commands.Command.run_from_conf_args": "conf args",
    "asv.environment.Environment.create": "self",
    "asv.environment.ExistingEnvironment.__init__": "self conf executable requirements "
    "tagged_env_vars",
    "asv.machine.MachineCollection.load": "machine_name _path",
    "asv.machine.MachineCollection.save": "machine_name machine_info _path",
    "asv.results.Results.add_result": "self benchmark result started_at duration record_samples "
    "append_samples selected_idx",
    "asv.results.Results.load": "path machine_name",
    "asv.results.Results.load_data": "self result_dir",
    "asv.results.Results.remove_result": "self key",
    "asv.results.Results.remove_samples": "self key selected_idx",
    "asv.results.Results.rm": "self result_dir",
    "asv.results.Results.save": "self result_dir",
    "asv.runner.Spawner.create_setup_cache": "self benchmark_id timeout params_str",
    "asv.runner.Spawner.run": "self name params_str profile_path result_file_name timeout cwd",
    "asv.runner._run_benchmark_single_param": "benchmark spawner param_idx profile extra_params "
    "cwd",
    "asv.runner.fail_benchmark": "benchmark stderr errcode",
    "asv.util.load_json": "path api_version js_comments",
    "asv.util.write_json": "path data api_version compact",
}
"""Functions that the hooks replace: where asv looks them up, to their parameters."""

CALLED = {
    "asv.environment.Environment.run": "self args kwargs",
    "asv.environment.Environment.install_project": "self conf repo commit_hash",
    "asv.environment.Environment.run_executable": "self executable args kwargs",
    "asv.environment.get_environments": "conf env_specifiers verbose",
    "asv.plugins.virtualenv.Virtualenv._run_pip": "self args kwargs",
    "asv.repo.get_repo": "conf",
    "asv.results.Results.get_result_keys": "self benchmarks",
    "asv.results.Results.get_result_stats": "self key params",
    "asv.results.Results.get_result_value": "self key params",
    "asv.results.get_filename": "machine commit_hash env_name",
    "asv_runner.statistics.compute_stats": "samples number",
}
"""Functions that are called as they are, to their parameters."""

ATTRIBUTES = {
    "asv.benchmarks.Benchmarks": "_all_benchmarks _benchmark_selection _conf",
    "asv.environment.Environment": "_build_root _cache _path _requirements",
    "asv.results.Results": "_filename _results _samples _stats",
    "asv.runner.Spawner": "benchmark_dir env",
}
"""Attributes that the ``__init__`` of a class sets."""

CONSTANTS = (
    "asv.runner.BENCHMARK_RUN_SCRIPT",
    "asv.runner.BenchmarkResult",
    "asv.util.TIMEOUT_RETCODE",
)


def verify() -> None:
    """Check that the installed asv has everything listed here.

    Raises:
        WatchError: Something is missing or takes other arguments; names it.
    """
    for path, parameters in (REPLACED | CALLED).items():
        installed = " ".join(inspect.signature(_resolve(path)).parameters)
        if installed.removeprefix("cls ") != parameters:
            raise _wrong_asv(f"{path} takes ({installed}) instead of ({parameters})")
    for path, names in ATTRIBUTES.items():
        code = _resolve(f"{path}.__init__").__code__
        for name in names.split():
            if name not in code.co_names:
                raise _wrong_asv(f"{path} has no attribute {name}")
    for path in CONSTANTS:
        _resolve(path)


def _resolve(path: str) -> Any:
    """Look up a dotted path, such as ``asv.results.Results.save``."""
    parts = path.split(".")
    for count in range(len(parts), 0, -1):
        try:
            value: Any = importlib.import_module(".".join(parts[:count]))
        except ModuleNotFoundError:
            continue
        for name in parts[count:]:
            if not hasattr(value, name):
                raise _wrong_asv(f"there is no {path}")
            value = getattr(value, name)
        return value
    raise _wrong_asv(f"there is no {path}")


def _wrong_asv(difference: str) -> WatchError:
    return WatchError(
        f"asv {asv.__version__} differs from the release that asv-watch works with: "
        f"{difference}; install the release that asv-watch requires"
    )
