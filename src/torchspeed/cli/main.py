"""The command's door: what goes wrong leaves in one line, with an exit status.

0: done; 1: it could not be done; 2: it was asked for wrongly; 130: interrupted.
"""

from __future__ import annotations

import os
import sys

import typer
from typer.exceptions import TyperException

from torchspeed.cli.inference import inference, smooth_inference
from torchspeed.cli.information import info, list_names
from torchspeed.cli.sweep import sweep
from torchspeed.cli.train import train
from torchspeed.errors import TorchspeedError
from torchspeed.measure.allocator import keep_memory

INTERRUPTED = 130
"""Exit status after Ctrl-C: 128 and the signal's number."""

TRAIN_EXAMPLES = """
Examples:\n
  torchspeed train  (LeNet on real digits, nothing to download)\n
  torchspeed train -m resnet18_mnist -d mnist --download -e 10 --target-accuracy 99\n
  torchspeed train -m darnn -d exchange_rate --download --window 10 --horizon 15\n
  torchspeed train -m resnet50 -d dummy --device cuda --precision bf16-mixed --devices 8
"""
INFERENCE_EXAMPLES = """
Examples:\n
  torchspeed inference -m resnet50 -d imagenet --data-dir /data/imagenet -w 4\n
  torchspeed inference -m lstnet --json lstnet.json
"""
SMOOTH_EXAMPLES = """
Examples:\n
  torchspeed smooth-inference -m resnet50 -d dummy --limit-batches 20 --device cuda\n
  torchspeed smooth-inference -m lenet5 --passes 10
"""

SWEEP_EXAMPLES = """
Examples:\n
  torchspeed sweep workers.jsonl -w 0,1,2 -e 3 --figures .\n
  torchspeed sweep all.jsonl -b 32,128,512 --optimiser sgd,adam --rate 0.1,0.01 -e 20 --target-accuracy 90 --search 8
"""  # noqa: E501

app = typer.Typer(
    name="torchspeed",
    help="Train and infer with every phase timed. Start with: torchspeed train",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("train", epilog=TRAIN_EXAMPLES)(train)
app.command("inference", epilog=INFERENCE_EXAMPLES)(inference)
app.command("smooth-inference", epilog=SMOOTH_EXAMPLES)(smooth_inference)
app.command("sweep", epilog=SWEEP_EXAMPLES)(sweep)
app.command("list")(list_names)
app.command("info")(info)


def main(arguments: list[str] | None = None) -> int:
    """Run the command and return its exit status.

    Args:
        arguments: without the program's name; those of the process by default.
    """
    arguments = sys.argv[1:] if arguments is None else arguments
    keep_memory()
    try:
        status = app(
            args=list(arguments), obj=arguments, prog_name="torchspeed", standalone_mode=False
        )
    except TyperException as error:
        print(f"torchspeed: {_one_line(error.format_message())}; see --help", file=sys.stderr)
        return 2
    except TorchspeedError as error:
        if _is_rank():
            from torchspeed.training.launch import tell_launcher  # noqa: PLC0415 - torch

            tell_launcher(error)
            return 1
        print(f"torchspeed: {_one_line(str(error))}", file=sys.stderr)
        return 1
    except (KeyboardInterrupt, typer.Abort):
        status = INTERRUPTED
    if status == INTERRUPTED and not _is_rank():
        print("torchspeed: interrupted", file=sys.stderr)
    return int(status or 0)


def _is_rank() -> bool:
    """Whether an agent started this process, and will tell what became of it."""
    return "TORCHELASTIC_ERROR_FILE" in os.environ


def _one_line(message: str) -> str:
    return " ".join(message.split()).rstrip(".")
