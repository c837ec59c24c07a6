"""Several processes for one run: each computes a share of every batch, and their gradients are averaged.

DDP: each process holds the whole model. FSDP2: each holds a share of every weight and of the optimiser's memory of it,
and the rest comes from the others when a layer needs it. `torchrun` starts the processes and numbers them.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass

import torch.distributed as dist
from torch import Tensor, nn
from torch.distributed.checkpoint.state_dict import StateDictOptions, get_model_state_dict
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import DTensor

from gpu_lab.device import Device
from gpu_lab.words import LabError

MODES = ("none", "ddp", "fsdp")


@dataclass(frozen=True)
class World:
    """This process among those of the run."""

    rank: int = 0
    size: int = 1
    local_rank: int = 0  # its number on this machine, and the number of its GPU
    mode: str = "none"

    @property
    def speaks(self) -> bool:
        """One process says what is going on, for all."""
        return self.rank == 0

    def wait(self) -> None:
        """Until all processes are here."""
        if self.size > 1:
            dist.barrier()

    def mean(self, value: Tensor) -> float:
        """The mean of a number over all processes; all must ask for it."""
        if self.size == 1:
            return value.item()
        value = value.detach().clone()
        dist.all_reduce(value)
        return value.item() / self.size


def world_from_environment(mode: str | None, batch_size: int) -> World:
    """What `torchrun` has put into the environment; by default DDP where there are several. Raises LabError."""
    size = int(os.environ.get("WORLD_SIZE", "1"))
    mode = mode or ("ddp" if size > 1 else "none")
    if mode != "none" and "WORLD_SIZE" not in os.environ:
        raise LabError("parallel.single", mode=mode)
    if mode == "none" and size > 1:
        raise LabError("parallel.none", size=size)
    if batch_size % size:
        raise LabError("parallel.share", batch=batch_size, size=size, possible=-(-batch_size // size) * size)
    return World(int(os.environ.get("RANK", "0")), size, int(os.environ.get("LOCAL_RANK", "0")), mode)


@contextlib.contextmanager
def joined(world: World, device: Device) -> Iterator[None]:
    """In here the processes can talk to each other."""
    if world.mode == "none":
        yield
        return
    dist.init_process_group("nccl" if device.is_gpu else "gloo")
    try:
        yield
    finally:
        dist.destroy_process_group()


def spread(model: nn.Module, world: World, device: Device) -> nn.Module:
    """The model as the mode wants it. All processes must have built it with the same seed."""
    if world.mode == "ddp":
        return nn.parallel.DistributedDataParallel(model, device_ids=[world.local_rank] if device.is_gpu else None)
    if world.mode == "fsdp":
        mesh = dist.device_mesh.init_device_mesh(device.torch_device.type, (world.size,))
        for layers in [module for module in model.modules() if isinstance(module, nn.ModuleList)]:
            for layer in layers:
                fully_shard(layer, mesh=mesh)  # its weights come together when it computes, and go again
        fully_shard(model, mesh=mesh)  # what is left: embeddings, norms, the output
    return model


def whole_number(value: Tensor) -> float:
    """A number that may be spread over the processes (FSDP's norm of a gradient); all processes must ask for it."""
    return (value.full_tensor() if isinstance(value, DTensor) else value).item()


def whole_weights(model: nn.Module) -> dict[str, Tensor]:
    """All weights by name, as one process without any of this would hold them; empty but for the process that speaks.

    All processes must ask for it.
    """
    return get_model_state_dict(model, options=StateDictOptions(full_state_dict=True, cpu_offload=True))
