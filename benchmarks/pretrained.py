"""Forecasters that are trained once for all series: reading one window, and the next step."""

from ._cases import DEVICES, PRETRAINED
from ._package import from_commit, skip_what_cannot_run
from ._suite import _TimedSuite, skipped

_int8_on_cpus = skipped([(model, "cuda", "int8") for model in PRETRAINED], "int8 is for CPUs")


class Generation(_TimedSuite):
    """A batch of one; the next step is one row for each map, in TimesFM four.

    TimesFM and Mamba read their own forecast in it, with what they kept of earlier steps.
    Chronos-Bolt decodes its whole forecast from the encoded window.
    """

    params = (PRETRAINED, DEVICES, ["float32", "bfloat16", "int8"])
    param_names = ("model", "device", "precision")

    def setup(self, model: str, device: str, precision: str) -> None:
        generation = from_commit("measure.generation", "generation")
        skip_what_cannot_run(device, model)
        self.generation = generation(model, device, precision)
        self.choose_clock(device)

    @_int8_on_cpus
    def time_prefill(self, model: str, device: str, precision: str) -> None:
        """Reading a window."""
        self.generation.prefill()

    @_int8_on_cpus
    def time_next_step(self, model: str, device: str, precision: str) -> None:
        """One step after a window."""
        self.generation.next_step()

    @_int8_on_cpus
    def peakmem_next_step(self, model: str, device: str, precision: str) -> None:
        """Peak host memory, in bytes, of a process that reads a window and makes a step."""
        self.generation.next_step()
