"""Every sentence that the lab's programs say, in one table, so that another language is another table."""

from __future__ import annotations

WORDS = {
    # device and precision
    "device.cpu": "No GPU was found: training on the CPU, on one thread.",
    "device.cpu_asked": "Training on the CPU, on one thread.",
    "device.gpu": "Training on {name}.",
    "device.no_gpu": "No GPU was found here. Leave --device out to train on the CPU.",
    "precision.fp32": "Numbers have 32 bits.",
    "precision.bf16": "Products are computed in bf16 (16 bits, the range of 32), weights stay in 32 bits.",
    "precision.fp16": "Products are computed in fp16, with a loss that is scaled up so that small gradients do not become 0.",
    "precision.fallback": "This card computes no bf16 of its own: fp16 is taken in its place, with a loss that is scaled up "
    "so that small gradients do not become 0.",
    # models
    "notebook.not_found": "{path} is not there. Name the notebook that holds your Seq2SeqTransformer: --notebook PATH",
    "notebook.none": "The Transformer is the one of your notebook: name it with --notebook PATH",
    "notebook.unreadable": "{path} is no notebook: {reason}",
    "notebook.no_class": "{path} defines no {name}.",
    "notebook.no_class_because": "{path} defines no {name}: its cell '{cell}' raised {error}: {message}",
    "notebook.unanswered": "An answer of {path} still raises NotImplementedError: {where}",
    "model.size": "{model} has no size {unknown}; it has {known}.",
    "model.parameters": "{model}: {parameters:,} parameters.",
    # runs and their folders
    "out.taken": "{folder} holds a run already. Add --resume to go on with it, or name another folder with --out.",
    "out.other": "{folder} holds a run with other settings ({differences}): name another folder with --out.",
    "out.difference": "{name} {there}, and now {here}",
    "resume.nothing": "There is no checkpoint yet: training begins at step 0.",
    "resume.step": "Going on at step {step}.",
    "resume.done": "The run in {folder} is finished: nothing is left to train.",
    "train.first": "the first steps",
    "train.line": "loss {loss:.3f}  {speed:,.0f} tokens/s",
    "train.stopped": "Stopped at step {step}, with a checkpoint: --resume goes on from there.",
    "train.interrupted": "Stopped: --resume goes on from the last checkpoint.",
    "train.interrupted_early": "Stopped before the first checkpoint: the next start begins anew.",
    "train.written": "Written to {folder}: model.safetensors, config.json, metrics.jsonl",
    "train.diverged": "The loss is {loss} at step {step}: the learning rate is too large, or the model divides by 0. "
    "Try --learning-rate {lower:g}.",
    "train.memory": "Out of memory with a batch of {batch}. Try --batch-size {smaller}.",
    "train.compiler": "torch.compile does not work here ({reason}): leave --compile out.",
    "accuracy.head": "Right answers, of up to {count} for each number of digits (numbers that training has not shown, "
    "from four digits up):",
    "accuracy.row": "  {digits:2} digits  {share:6.1%}",
    # comparing the models
    "compare.row": "{model}, seed {seed}: {share:.1%} right at 12 digits",
    "compare.least": "{model}, seed {seed}: {share:.1%} right at 12 digits, and at least {least:.0%} are claimed",
    "compare.gain": "seed {seed}: attention is right {gain:.2f} more often than the fixed vector, and at least {least:.2f} are claimed",
    "compare.written": "Written: {path}",
    # measuring
    "measure.small": "No GPU was found. --small measures short texts and a small model on the CPU.",
    "measure.unknown": "There is nothing called {what} to measure; there is {known}.",
    "measure.forward": ", forward only",
    "measure.product": "matrix product: {teraflops:.2f} TFLOP/s",
    "measure.attention": "{name}: {milliseconds:.2f} ms, {peak_mib:.0f} MiB at most, {teraflops:.2f} TFLOP/s",
    "measure.training": "{name}: {tokens_per_second:,.0f} tokens/s, {milliseconds:.1f} ms a step, {peak_mib:.0f} MiB at most, "
    "{utilisation:.1%} used",
    "measure.generation": "writing: {without_cache:.0f} tokens/s without a cache, {with_cache:.0f} with one, the same tokens: {same_tokens}",
    # processes
    "parallel.single": "{mode} wants several processes: torchrun --nproc_per_node=2 -m gpu_lab.train --parallel {mode} …",
    "parallel.none": "torchrun started {size} processes, and --parallel none uses one: leave --parallel out.",
    "parallel.share": "A batch of {batch} cannot be shared by {size} processes: try --batch-size {possible}.",
    "parallel.ddp": "{size} processes, each with the whole model and a share of the batch (DDP).",
    "parallel.fsdp": "{size} processes, each with a share of the model and of the batch (FSDP2).",
}


def say(key: str, /, **values: object) -> str:
    """The sentence `key`, with its blanks filled in."""
    return WORDS[key].format(**values)


class LabError(Exception):
    """What a learner can mend, said in one sentence: the programs show it and end with status 2."""

    def __init__(self, key: str, /, **values: object) -> None:
        super().__init__(say(key, **values))
