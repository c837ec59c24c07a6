"""PyTorch answers across the two processes: values, gradients, modules, random draws."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from autograder import tensors
from autograder.effort import Effort, effort
from autograder.link import connect

SOURCE = """
import torch
from torch import nn

def scaled(x, w=None, mask=None):
    y = x * 3 if w is None else x * w
    return (y, mask) if mask is not None else y

def changed(x):
    x += 1
    return x

def dropped(x):
    return nn.functional.dropout(x, 0.5, training=True)

def spoilt():
    state = torch.get_rng_state()
    state[24:5016] = 0
    torch.set_rng_state(state)

def seeded():
    torch.manual_seed(0)

class Layer(nn.Module):
    def __init__(self, width, dropout=0.0):
        super().__init__()
        self.n_heads = 3
        self.project = nn.Linear(width, 2 * width)
        self.norm = nn.LayerNorm(width)
        self.dropout = nn.Dropout(dropout)
        self.inner = Inner(width)

    def forward(self, x, mask=None):
        y = self.project(self.norm(x)).relu()
        if mask is not None:
            y = y.masked_fill(~mask[:, None], 0)
        return self.dropout(y) + self.inner(x)

    def halves(self, x, *, first=True):
        return self(x).chunk(2, dim=-1)[0 if first else 1]

    def _own(self):
        return 0

class Inner(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(2 * width))

    def forward(self, x):
        return torch.cat([x, x], -1) * self.scale

def use(layer, x):
    return layer.halves(x) * layer.n_heads

def spoil(layer, x):
    layer.eval()
    with torch.no_grad():
        layer.inner.scale += 1
    return layer(x)

def waste(layer, x, times):
    for _ in range(times):
        y = torch.nn.functional.linear(x, layer.project.weight)
    return y, (x[:, :, None] * x[:, None]).sum()
"""


@pytest.fixture(scope="module")
def learner(warm):
    warm.prepare(with_torch=True)
    link = connect(warm.start, with_torch=True)
    assert link.run(SOURCE, "a cell") is None
    yield link
    link.close()


@pytest.fixture(scope="module")
def ours():
    namespace: dict = {"__name__": "ours"}
    exec(SOURCE, namespace)
    return namespace


@pytest.fixture
def pair(learner, ours):
    """The same layer twice: the learner's, mirrored, and one of ours with its parameters."""
    torch.manual_seed(1)
    theirs = learner.answer("Layer")(4, dropout=0.5)
    layer = ours["Layer"](4, dropout=0.5)
    layer.load_state_dict(theirs.state_dict())
    return theirs, layer


@pytest.mark.parametrize(
    "dtype", [torch.float64, torch.float32, torch.bfloat16, torch.float16, torch.int64, torch.bool]
)
@pytest.mark.parametrize("shape", [(), (0, 2), (2, 3)])
def test_tensors_arrive_with_dtype_shape_and_values(learner, dtype, shape):
    x = torch.ones(shape).to(dtype)
    got, mask = learner.call("scaled", (x,), {"mask": torch.tensor([True, False])})
    assert torch.equal(got, x * 3)
    assert got.dtype == (x * 3).dtype
    assert mask.tolist() == [True, False]


def test_a_gradient_comes_back_through_an_answer(learner):
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    w = torch.tensor([5.0, -1.0], requires_grad=True)
    (learner.call("scaled", (x,), {"w": w}) * torch.tensor([10.0, 1.0])).sum().backward()
    assert x.grad.tolist() == [50.0, -1.0]
    assert w.grad.tolist() == [10.0, 2.0]


def test_without_gradients_none_is_asked_for(learner):
    x = torch.ones(2, requires_grad=True)
    with torch.no_grad():
        assert not learner.call("scaled", (x,), {}).requires_grad
    assert not learner.call("scaled", (x.detach(),), {}).requires_grad


def test_a_change_of_a_tensor_is_reported_and_applied(learner):
    x = torch.zeros(2)
    learner.changed.clear()
    learner.call("changed", (x,), {})
    assert x.tolist() == [1.0, 1.0]
    assert learner.changed == ["changed"]


def test_a_seed_set_here_holds_there(learner, ours):
    x = torch.ones(50)
    torch.manual_seed(3)
    there, after_there = learner.call("dropped", (x,), {}), torch.rand(1)
    torch.manual_seed(3)
    here, after_here = ours["dropped"](x), torch.rand(1)
    assert torch.equal(there, here)
    assert torch.equal(after_there, after_here)


def test_a_module_is_mirrored_with_its_parts_and_attributes(pair):
    theirs, ours = pair
    assert isinstance(theirs, nn.Module)
    assert theirs.n_heads == 3
    assert isinstance(theirs.project, nn.Linear)
    assert [name for name, _ in theirs.named_parameters()] == [name for name, _ in ours.named_parameters()]
    assert sum(p.numel() for p in theirs.parameters()) == sum(p.numel() for p in ours.parameters())


def test_a_mirrored_module_gives_the_learners_values_and_gradients(pair):
    theirs, ours = pair
    x = torch.randn(2, 5, 4, requires_grad=True)
    y = x.detach().clone().requires_grad_()
    for module, given in ((theirs, x), (ours, y)):
        module.eval()
        module(given).square().sum().backward()
    assert torch.allclose(x.grad, y.grad)
    for (name, a), (_, b) in zip(theirs.named_parameters(), ours.named_parameters(), strict=True):
        assert torch.allclose(a.grad, b.grad), name


def test_parameters_set_here_are_used_there(pair):
    theirs, ours = pair
    with torch.no_grad():
        for module in pair:
            module.eval()
            module.project.weight.fill_(0.25)
            module.inner.scale.fill_(2.0)
    x = torch.randn(3, 4)
    assert torch.allclose(theirs(x), ours(x))


def test_double_precision_and_training_flags_cross(pair):
    theirs, ours = (module.double() for module in pair)
    x = torch.randn(3, 4, dtype=torch.float64)
    for module in (theirs, ours):
        module.train()
    torch.manual_seed(5)
    a = theirs(x)
    torch.manual_seed(5)
    assert torch.equal(a, ours(x))
    assert torch.equal(theirs.eval()(x), ours.eval()(x))


def test_a_part_that_is_the_learners_own_class_can_be_called_alone(pair):
    theirs, ours = pair
    x = torch.randn(3, 4)
    assert torch.equal(theirs.inner(x), ours.inner(x))
    assert torch.equal(theirs.norm(x), ours.norm(x))


def test_an_answer_cannot_choose_what_a_test_draws_next(learner):
    torch.manual_seed(3)
    learner.call("spoilt", (), {})
    assert torch.rand(100).unique().numel() > 90
    torch.manual_seed(4)
    learner.call("seeded", (), {})
    chosen = torch.rand(1)
    torch.manual_seed(0)
    assert not torch.equal(chosen, torch.rand(1))


def test_a_generator_is_followed_however_much_an_answer_draws():
    torch.manual_seed(3)
    before = torch.get_rng_state()
    torch.randn(100_000)
    after, wanted = torch.get_rng_state(), torch.rand(3)
    torch.set_rng_state(before)
    tensors.follow(before, after)
    assert torch.equal(torch.rand(3), wanted)


def test_a_modules_own_methods_are_asked_too(pair):
    theirs, ours = (module.eval() for module in pair)
    x = torch.randn(3, 4, requires_grad=True)
    y = x.detach().clone().requires_grad_()
    for module, given in ((theirs, x), (ours, y)):
        module.halves(given, first=False).sum().backward()
    assert torch.allclose(x.grad, y.grad)
    assert torch.allclose(theirs.project.weight.grad, ours.project.weight.grad)
    assert not hasattr(theirs, "_own")


def test_a_module_of_a_given_class_arrives_as_one_with_its_numbers_and_methods(learner, pair):
    layer = pair[1].double().eval()
    x = torch.randn(3, 4, dtype=torch.float64)
    assert torch.equal(learner.call("use", (layer, x), {}), layer.halves(x) * 3)
    assert torch.equal(learner.call("use", (layer,), {"x": x}), layer.halves(x) * 3)


def test_a_gradient_comes_back_to_a_module_that_was_given(learner, pair):
    layer = pair[1].eval()
    x = torch.randn(3, 4)
    learner.call("use", (layer, x), {}).sum().backward()
    came = layer.project.weight.grad.clone()
    layer.zero_grad()
    (layer.halves(x) * 3).sum().backward()
    assert torch.allclose(came, layer.project.weight.grad)


def test_what_an_answer_does_to_a_module_that_was_given_is_seen(learner, pair):
    layer = pair[1].train()
    learner.changed.clear()
    learner.call("spoil", (layer, torch.randn(3, 4)), {})
    assert [layer.training, layer.inner.training] == [False, False]
    assert layer.inner.scale.tolist() == [2.0] * 8
    assert learner.changed == ["spoil"]


def test_a_module_of_a_class_that_the_learner_has_removed_fails_by_its_name(learner):
    class Other(nn.Module):
        def halves(self, x):
            return x

    with pytest.raises(AttributeError, match="'Other' object has no attribute 'halves'"):
        learner.call("use", (Other(), torch.ones(1)), {})


def test_what_an_answer_computes_is_counted_where_it_runs(learner, pair):
    layer, x = pair[1].eval(), torch.randn(5, 4)
    with effort(layer) as spent:
        learner.call("waste", (layer, x, 3), {})
    assert spent.rows == {"project.weight": 15}
    assert spent.calls["linear"] == 3
    assert spent.largest == 5 * 4 * 4


def test_what_an_answer_computes_is_counted_alike_in_one_process(ours, pair):
    layer, x = pair[1].eval(), torch.randn(5, 4)
    with effort(layer) as spent:
        ours["waste"](layer, x, 3)
    assert (spent.rows, spent.largest) == ({"project.weight": 15}, 5 * 4 * 4)
    assert spent.beyond({"project.weight": 14, "largest": 80}, ["linear", "softmax"]) == ["project.weight", "softmax"]
    ours["waste"](layer, x, 3)
    assert spent.calls["linear"] == 3  # nothing is counted afterwards


@pytest.mark.parametrize("name", ["view", "transpose", "expand"])
def test_a_view_is_no_new_tensor(name):
    x = torch.randn(4, 6)
    views = {"view": lambda: x.view(6, 4), "transpose": lambda: x.T, "expand": lambda: x[None].expand(1000, 4, 6)}
    with effort() as spent:
        views[name]()
    assert spent.largest == 0


def test_counts_that_are_none_are_refused():
    for bad in ({}, {"calls": {"a": -1}, "rows": {}, "largest": 0}, {"calls": {}, "rows": {}, "largest": "1"}, None):
        with pytest.raises((TypeError, LookupError, ValueError)):
            Effort().add(bad)
