"""The lab's models: what their states and weights are, and the Transformer that a learner's notebook brings."""

from __future__ import annotations

import pytest
import torch
from gpu_lab.data import BOS, PADDING, pairs
from gpu_lab.device import _gpu_precision, choose
from gpu_lab.models import SIZES, build, parameters_of
from gpu_lab.notebook import default_notebook, transformer_of
from gpu_lab.words import WORDS, LabError
from lab_notebook import CLASS, IMPORTS, code, learners_notebook, write

BOTH = pairs([7, 3_412_005, 21])


def logits(model, source, target_in):
    torch.manual_seed(0)
    return model.eval()(source, target_in)


@pytest.mark.parametrize("name", ["fixed", "attention"])
def test_a_recurrent_model_sees_no_padding_and_no_future(name):
    torch.manual_seed(0)
    model = build(name, SIZES[name])
    whole = model(BOTH.source, BOTH.target_in)  # (N, L, V)
    alone = pairs([7])
    assert torch.allclose(whole[0, : alone.target.shape[1]], model(alone.source, alone.target_in)[0], atol=1e-5)
    later = BOTH.target_in.clone()
    later[:, 4:] = 9
    assert torch.equal(model(BOTH.source, later)[:, :4], whole[:, :4])
    assert not torch.allclose(model(BOTH.source, later)[:, 4:], whole[:, 4:])


def test_alignment_weights_sum_to_one_over_real_words_and_are_those_that_were_used():
    torch.manual_seed(0)
    model = build("attention", SIZES["attention"])
    memory = model.encode(BOTH.source)  # (N, S, H)
    out, a = model.decode_and_align(BOTH.target_in, memory, BOTH.source)  # (N, L, V), (N, L, S)
    assert a.shape == (*BOTH.target_in.shape, BOTH.source.shape[1])
    assert torch.allclose(a.sum(dim=-1), torch.ones(a.shape[:2]))
    assert (a[(BOTH.source == PADDING)[:, None].expand_as(a)] == 0).all()
    assert torch.equal(out, model(BOTH.source, BOTH.target_in))

    h = model._states(BOTH.target_in, memory, BOTH.source)[1, 2]  # (H,): one state, by a loop
    scores = torch.stack([h @ key / 128**0.5 for key in memory[1]])[: int((BOTH.source[1] != PADDING).sum())]
    assert torch.allclose(a[1, 2, : len(scores)], scores.softmax(dim=0), atol=1e-6)


def test_the_fixed_vector_is_the_last_real_state_and_all_that_the_decoder_gets():
    torch.manual_seed(0)
    model = build("fixed", SIZES["fixed"])
    memory = model.encode(BOTH.source)
    hears = torch.full((3, 1), BOS)
    said = model.decode(hears, memory, BOTH.source)
    others = memory.clone()
    last = (BOTH.source != PADDING).sum(dim=1) - 1
    for n in range(3):
        others[n, : last[n]] = 5.0
        others[n, last[n] + 1 :] = 5.0
    assert torch.equal(model.decode(hears, others, BOTH.source), said)
    others[1, last[1]] = 5.0
    assert not torch.allclose(model.decode(hears, others, BOTH.source)[1], said[1])


def test_the_models_have_about_as_many_parameters():
    assert parameters_of(build("fixed", SIZES["fixed"])) == 154_899
    assert parameters_of(build("attention", SIZES["attention"])) == 154_899 + 2 * 128 * 128 + 128


def test_the_learners_class_is_built_and_their_own_experiments_are_not_run_again(tmp_path):
    path = write(
        tmp_path / "mine.ipynb",
        code(IMPORTS, locked=True),
        code("!pip install something"),
        code("%matplotlib inline\nimport math"),
        code("started = open('I was run', 'w')\n\ndef half(x):\n    return x / 2\n\nraise SystemExit"),
        code(CLASS + "\nhalves = half(3)", solution=True),
        code("raise AssertionError('a test')", grade=True, locked=True),
        {"cell_type": "markdown", "id": "text", "metadata": {}, "source": "text"},
    )
    model = build("transformer", SIZES["transformer"], path)
    assert type(model).__name__ == "Seq2SeqTransformer"
    assert not (tmp_path / "I was run").exists()
    assert type(model).__module__ == "learners_notebook"


@pytest.mark.parametrize(
    ("cells", "sentence"),
    [
        ([code("x = 1", locked=True)], "defines no Seq2SeqTransformer."),
        ([code("import nowhere", locked=True), code(CLASS, solution=True)], "raised ModuleNotFoundError"),
        ([code("Seq2SeqTransformer = 3", solution=True)], "defines no Seq2SeqTransformer."),
    ],
)
def test_a_notebook_without_the_class_is_told_why(tmp_path, cells, sentence):
    path = write(tmp_path / "mine.ipynb", *cells)
    with pytest.raises(LabError, match=sentence):
        transformer_of(path)


def test_a_file_that_is_no_notebook_is_told_so(tmp_path):
    (tmp_path / "mine.ipynb").write_text("<html>", encoding="utf-8")
    with pytest.raises(LabError, match="is no notebook"):
        transformer_of(tmp_path / "mine.ipynb")
    with pytest.raises(LabError, match="--notebook PATH"):
        build("transformer", SIZES["transformer"])


def test_the_courses_own_solution_is_found_from_inside_the_course(tmp_path):
    below = tmp_path / "exercises" / "07_gpu_lab"
    below.mkdir(parents=True)
    assert default_notebook(below) is None
    (tmp_path / "solutions" / "07_gpu_lab").mkdir(parents=True)
    path = learners_notebook(tmp_path / "solutions" / "07_gpu_lab")
    assert default_notebook(below) == default_notebook(tmp_path) == path


def test_a_card_without_bf16_of_its_own_gets_fp16_and_is_told_so():
    def emulates(including_emulation=True):
        return including_emulation  # a T4

    def computes(including_emulation=True):
        return True

    assert _gpu_precision("auto", emulates) == ("fp16", WORDS["precision.fallback"])
    assert _gpu_precision("bf16", emulates)[0] == "fp16"
    assert _gpu_precision("fp32", emulates)[0] == "fp32"
    assert _gpu_precision("auto", computes) == ("bf16", WORDS["precision.bf16"])


def test_products_have_16_bits_where_that_was_chosen_and_fp16_alone_scales_its_loss():
    a = torch.randn(3, 3)
    for precision, dtype in (("fp32", torch.float32), ("bf16", torch.bfloat16), ("fp16", torch.float16)):
        device = choose("cpu", precision)
        with device.autocast():
            assert (a @ a).dtype == dtype
        assert device.scaler().is_enabled() == (precision == "fp16")
    assert torch.get_num_threads() == 1
