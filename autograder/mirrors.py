"""PyTorch's modules across the two processes: mirrored, called, given as arguments, and gradients find their way back.

A learner's module lives in the learner's process; in the test process stands a mirror of it, a real
`torch.nn.Module` with the same parameters, submodules and flags, whose forward (and whatever other method
its class has) asks the other side. Known parts (Linear, LayerNorm, …) are the real ones, so that a test can
use them as its own oracle. The other way, a module of a class that was given to the learner as well (by a cell
that runs on both sides) is made again there, part by part, when an answer is called with it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Mapping
from types import FunctionType
from typing import TYPE_CHECKING, Any

from autograder.tensors import wants_gradient

if TYPE_CHECKING:
    import torch

    from autograder.link import Link

KEPT_CALLS = 256  # how many results the learner's side keeps ready for a way back


# The learner's side


class Modules:
    """The modules that an answer made, and the results through which a gradient may come back."""

    def __init__(self) -> None:
        self._modules: list[Any] = []
        self._calls: dict[int, tuple[list[Any], list[Any]]] = {}

    def describe(self, module: Any) -> dict:
        """What a module looks like, and its state; a number by which it can be called."""
        self._modules.append(module)
        return {
            "number": len(self._modules) - 1,
            "parts": [_describe_part(path, part) for path, part in module.named_modules()],
            "parameters": [name for name, _ in module.named_parameters()],
            "state": {name: tensor.detach() for name, tensor in module.state_dict().items()},
        }

    def forward(self, request: dict, state: Any, received: list[Any]) -> Callable:
        """The module that a request names (or a method of it), with the other side's parameters and flags."""
        import torch

        module = self._modules[request["number"]]
        own = module.state_dict(keep_vars=True)
        with torch.no_grad():
            for name, tensor in state.items():
                if tensor.dtype != own[name].dtype:
                    own[name].data = own[name].data.to(tensor.dtype)
                own[name].data.copy_(tensor)
        for position, item in enumerate(received):  # the gradient goes to the module's own parameters
            for name, tensor in state.items():
                if item is tensor and tensor.requires_grad:
                    received[position] = own[name].requires_grad_()
        set_training(module, request["training"])
        part = module.get_submodule(request["path"])
        return getattr(part, request["method"]) if request["method"] else part

    def remember(self, number: int, received: list[Any], sent: list[Any]) -> None:
        """Keep what a way back needs: the inputs and the results that want a gradient."""
        outputs = [item for item in sent if wants_gradient(item)]
        if outputs:
            self._calls[number] = ([item for item in received if wants_gradient(item)], outputs)
            self._calls.pop(number - KEPT_CALLS, None)

    def backward(self, request: dict) -> Callable:
        """The way back through an earlier call: gradients of its inputs from that of one result."""
        import torch

        inputs, outputs = self._calls[request["call"]]

        def back(gradient: Any) -> list[Any]:
            # Of a sum, and not of `gradient`, for which PyTorch would load a package for algebra: a second, once.
            with torch.enable_grad():
                total = (outputs[request["output"]] * gradient).sum()
            return list(torch.autograd.grad(total, inputs, retain_graph=True, allow_unused=True))

        return back


def made_again(namespace: Mapping[str, Any], received: list[Any], tree: dict, state: dict[str, Any]) -> torch.nn.Module:
    """The module that `given` described, made of the classes of the same names in the learner's `namespace`.

    In `received` its own parameters take the places of the tensors that came.
    """
    import torch

    parts: dict[str, torch.nn.Module] = {}
    for part in tree["parts"]:
        made = _known_part(part, state)
        if made is None:
            kind = namespace.get(part["own"])
            if not (isinstance(kind, type) and issubclass(kind, torch.nn.Module)):
                kind = type(
                    part["own"], (torch.nn.Module,), {}
                )  # the learner has removed it: what is asked of it fails
            made = kind.__new__(kind)
            torch.nn.Module.__init__(made)
            for name, value in part["attributes"].items():
                setattr(made, name, value)
        _put(parts, part["path"], made)
    places = {id(item): position for position, item in enumerate(received)}
    for path, tensor in state.items():
        _fill(parts, path, tensor, path in tree["parameters"], tensor.requires_grad)
        received[places[id(tensor)]] = parts[""].state_dict(keep_vars=True)[path]
    set_training(parts[""], tree["training"])
    return parts[""]


# Both sides


def training_paths(module: torch.nn.Module) -> list[str]:
    """The parts of a module that are in training, by their paths."""
    return [path for path, part in module.named_modules() if part.training]


def set_training(module: torch.nn.Module, paths: Collection[str]) -> None:
    """Set each part's flag: in training are those in `paths`."""
    for path, part in module.named_modules():
        part.training = path in paths


def _describe_part(path: str, part: Any) -> dict:
    """One submodule: its class, PyTorch's or an own one, its plain attributes, its flag, its own methods."""
    import torch

    kind = type(part).__name__
    attributes = {
        name: value
        for name, value in vars(part).items()
        if not name.startswith("_") and name != "training" and isinstance(value, bool | int | float | str)
    }
    known = getattr(torch.nn, kind, None) is type(part)
    return {
        "path": path,
        "class": kind if known else "",
        "own": "" if known else kind,
        "training": part.training,
        "attributes": attributes,
        "methods": [] if known else _methods(type(part)),
    }


def _methods(kind: type) -> list[str]:
    """The public methods that a module's class has of its own, beside `forward`."""
    import torch

    own = (vars(base) for base in kind.__mro__ if not issubclass(torch.nn.Module, base))
    names = {name for members in own for name, member in members.items() if isinstance(member, FunctionType)}
    return sorted(name for name in names if not name.startswith("_") and not hasattr(torch.nn.Module, name))


# The test process's side


def result_with_gradient(link: Link, call: int, inputs: list[Any], value: torch.Tensor, output: int) -> torch.Tensor:
    """A result through which a gradient finds its way back to `inputs`, by asking the learner's process."""
    import torch

    if not inputs:
        return value

    class Remote(torch.autograd.Function):
        @staticmethod
        def forward(context: Any, result: torch.Tensor, *_: torch.Tensor) -> torch.Tensor:
            return result.clone()

        @staticmethod
        def backward(context: Any, *gradients: torch.Tensor) -> Any:
            request = {"op": "backward", "call": call, "output": output}
            found = link.ask(request, "backward", (gradients[0].detach(),), {})
            if not isinstance(found, list) or len(found) != len(inputs):
                raise RuntimeError("the way back gave no gradients")
            return None, *found

    return Remote.apply(value, *inputs)


def given(sent: list[torch.nn.Module], module: torch.nn.Module) -> dict:
    """What a module is that an answer is called with, for `made_again`; it is added to `sent`."""
    sent.append(module)
    return {
        "parts": [_describe_part(path, part) for path, part in module.named_modules()],
        "parameters": [name for name, _ in module.named_parameters()],
        "training": training_paths(module),
        "state": module.state_dict(keep_vars=True),
    }


def mirror(link: Link, name: str, tree: dict, state: dict[str, Any]) -> torch.nn.Module:
    """A module that looks like the learner's, and asks the learner's when it is called.

    `tree` and `state` are what `Modules.describe` gave. Bad data raises LookupError, TypeError,
    ValueError or RuntimeError.
    """
    parts: dict[str, torch.nn.Module] = {}
    for part in tree["parts"]:
        path = part["path"]
        made = _known_part(part, state) or _remote_part(link, name, tree["number"], part)
        made.train(part["training"] is True)
        _put(parts, path, made)
    for path, tensor in state.items():
        _fill(parts, path, tensor, path in tree["parameters"], tensor.is_floating_point())
    for part in parts.values():
        if hasattr(part, "root"):
            part.root.append(parts[""])
    return parts[""]


def _put(parts: dict[str, torch.nn.Module], path: str, made: torch.nn.Module) -> None:
    """Put a new part into its place below its parent, which came before it."""
    if path:
        parent, _, child = path.rpartition(".")
        parts[parent].add_module(child, made)
    parts[path] = made


def _fill(parts: dict[str, torch.nn.Module], path: str, tensor: torch.Tensor, learns: bool, wants: bool) -> None:
    """Put a parameter (or a buffer, where it does not learn) into its part."""
    import torch

    parent, _, leaf = path.rpartition(".")
    if learns:
        parts[parent].register_parameter(leaf, torch.nn.Parameter(tensor.detach(), requires_grad=wants))
    else:
        parts[parent].register_buffer(leaf, tensor)


def _known_part(part: dict, state: dict[str, Any]) -> torch.nn.Module | None:
    """PyTorch's own module of that class, of the sizes that its weight has; None where it is the learner's own."""
    weight = state.get(f"{part['path']}.weight")
    attributes = part["attributes"]
    arguments: dict[str, Callable[[], tuple]] = {
        "Linear": lambda: (weight.shape[1], weight.shape[0]),
        "LayerNorm": lambda: (tuple(weight.shape), float(attributes["eps"])),
        "Embedding": lambda: (*weight.shape, attributes.get("padding_idx")),
        "Dropout": lambda: (float(attributes["p"]),),
        "ReLU": tuple,
        "GELU": tuple,
        "Identity": tuple,
        "Sequential": tuple,
        "ModuleList": tuple,
    }
    known = arguments.get(part["class"])
    if known is None or not part["path"]:  # the root is always asked
        return None
    empty = _empty(part["class"], *known())
    made = empty.__new__(type(empty))
    vars(made).update(
        (key, value.copy() if isinstance(value, dict | set) else value) for key, value in vars(empty).items()
    )
    return made


@functools.lru_cache(maxsize=1024)  # a copy costs a twentieth of a new one, which draws numbers that nobody wants
def _empty(name: str, *arguments: Any) -> torch.nn.Module:
    """PyTorch's own module of that name, without its numbers."""
    import torch

    with torch.device("meta"):
        made = getattr(torch.nn, name)(*arguments)
    for parameter in list(dict(made.named_parameters(recurse=False))):  # replaced by the state that came
        delattr(made, parameter)
        made.register_parameter(parameter, None)
    return made


def _remote_part(link: Link, name: str, number: int, part: dict) -> torch.nn.Module:
    """A module whose forward asks the learner's process."""
    import torch

    class Remote(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.root: list[torch.nn.Module] = []  # in a list: the root is no submodule of its parts

        def forward(self, *args: Any, **kwargs: Any) -> Any:
            return ask(self, "", args, kwargs)

    def ask(remote: Remote, method: str, args: tuple, kwargs: dict) -> Any:
        root = remote.root[0]
        request = {"op": "forward", "number": number, "path": part["path"], "method": method}
        request["training"] = training_paths(root)
        return link.ask(request, name, args, kwargs, root.state_dict(keep_vars=True))

    def method_of(remote: Remote, method: str) -> Callable:
        return lambda *args, **kwargs: ask(remote, method, args, kwargs)

    made = Remote()
    for attribute, value in part["attributes"].items():
        if attribute.isidentifier() and not hasattr(made, attribute):
            setattr(made, attribute, value)
    for method in part["methods"]:
        if method.isidentifier() and not hasattr(made, method):
            setattr(made, method, method_of(made, method))
    return made
