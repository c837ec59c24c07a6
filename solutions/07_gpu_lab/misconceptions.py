"""What people really answer in chapter 7, and what they need to hear."""

import numpy as np
import torch
from torch import nn

from autograder.misconceptions import probe, right, wrong
from autograder.probes import Built, ModuleProbe

# ---------------------------------------------------------------------------------------------
# sinusoidal_positions. Even and odd widths, long enough that a wrong wavelength shows.
probe("sinusoidal_positions", 4, 6)
probe("sinusoidal_positions", 3, 5)
probe("sinusoidal_positions", 2, 1)


@wrong(
    "sinusoidal_positions",
    "Your wavelengths grow half as fast as they should: the last pair's should be nearly 10000 times the first's. In the exponent i counts pairs, and each pair has two columns.",
)
def exponent_without_its_two(T, D):
    pairs = torch.arange((D + 1) // 2, dtype=torch.float64)
    angles = torch.arange(T)[:, None] / 10000 ** (pairs / D)
    positions = torch.zeros(T, D)
    positions[:, 0::2] = angles.sin()
    positions[:, 1::2] = angles.cos()[:, : D // 2]
    return positions


@wrong(
    "sinusoidal_positions",
    "Your wavelengths grow twice as fast as they should. The columns 0, 2, 4 are 2i already: doubled once more, they are too many.",
)
def exponent_doubled_twice(T, D):
    columns = torch.arange(0, D, 2, dtype=torch.float64)
    angles = torch.arange(T)[:, None] / 10000 ** (2 * columns / D)
    positions = torch.zeros(T, D)
    positions[:, 0::2] = angles.sin()
    positions[:, 1::2] = angles.cos()[:, : D // 2]
    return positions


@wrong(
    "sinusoidal_positions",
    "Each of your columns has a wavelength of its own. A sine and the cosine to its right share one.",
)
def every_column_its_own_wavelength(T, D):
    angles = torch.arange(T)[:, None] / 10000 ** (torch.arange(D, dtype=torch.float64) / D)
    positions = torch.zeros(T, D)
    positions[:, 0::2] = angles[:, 0::2].sin()
    positions[:, 1::2] = angles[:, 1::2].cos()
    return positions


@wrong(
    "sinusoidal_positions",
    "All your sines stand in the left half and all cosines in the right one. They should take turns: even columns, odd columns.",
)
def halves_side_by_side(T, D):
    angles = torch.arange(T)[:, None] / 10000 ** (torch.arange(0, D, 2, dtype=torch.float64) / D)
    return torch.cat([angles.sin(), angles.cos()[:, : D // 2]], dim=1).float()


@wrong(
    "sinusoidal_positions",
    "Sine and cosine have changed places: step 0 should begin with sin(0) = 0.",
)
def sine_and_cosine_changed(T, D):
    angles = torch.arange(T)[:, None] / 10000 ** (torch.arange(0, D, 2, dtype=torch.float64) / D)
    positions = torch.zeros(T, D)
    positions[:, 0::2] = angles.cos()
    positions[:, 1::2] = angles.sin()[:, : D // 2]
    return positions


@wrong("sinusoidal_positions", "You count the steps from 1. The first row belongs to step 0.")
def steps_counted_from_one(T, D):
    angles = torch.arange(1, T + 1)[:, None] / 10000 ** (torch.arange(0, D, 2, dtype=torch.float64) / D)
    positions = torch.zeros(T, D)
    positions[:, 0::2] = angles.sin()
    positions[:, 1::2] = angles.cos()[:, : D // 2]
    return positions


@wrong(
    "sinusoidal_positions",
    "Your waves become shorter from pair to pair. The step is divided by the growing power, so that the last pair turns slowest.",
)
def multiplied_by_the_power(T, D):
    angles = torch.arange(T)[:, None] * 10000 ** (torch.arange(0, D, 2, dtype=torch.float64) / D)
    positions = torch.zeros(T, D)
    positions[:, 0::2] = angles.sin()
    positions[:, 1::2] = angles.cos()[:, : D // 2]
    return positions


@wrong(
    "sinusoidal_positions",
    "An odd width fails: there is one sine more than there are cosines. Try D = 5.",
)
def even_widths_alone(T, D):
    angles = torch.arange(T)[:, None] / 10000 ** (torch.arange(0, D, 2, dtype=torch.float64) / D)
    positions = torch.zeros(T, D)
    positions[:, 0::2] = angles.sin()
    positions[:, 1::2] = angles.cos()
    return positions


@wrong(
    "sinusoidal_positions",
    "For an odd width your wavelengths are a little off: the exponent is a share of D, and not of an even number near it.",
)
def exponent_over_an_even_width(T, D):
    pairs = torch.arange((D + 1) // 2, dtype=torch.float64)
    angles = torch.arange(T)[:, None] / 10000 ** (pairs / max(D // 2, 1))
    positions = torch.zeros(T, D)
    positions[:, 0::2] = angles.sin()
    positions[:, 1::2] = angles.cos()[:, : D // 2]
    return positions


@wrong(
    "sinusoidal_positions",
    "Your result has steps and columns the wrong way round: a row is a step.",
)
def steps_in_columns(T, D):
    angles = torch.arange(T)[:, None] / 10000 ** (torch.arange(0, D, 2, dtype=torch.float64) / D)
    positions = torch.zeros(T, D)
    positions[:, 0::2] = angles.sin()
    positions[:, 1::2] = angles.cos()[:, : D // 2]
    return positions.T


@right("sinusoidal_positions")
def positions_one_by_one(T, D):
    positions = torch.zeros(T, D)
    for t in range(T):
        for column in range(D):
            angle = t / 10000 ** ((column // 2) * 2 / D)
            positions[t, column] = np.cos(angle) if column % 2 else np.sin(angle)
    return positions


@right("sinusoidal_positions")
def positions_by_a_shifted_sine(T, D):
    columns = np.arange(D)
    angles = np.arange(T)[:, None] / 10000.0 ** (columns // 2 * 2 / D)
    return torch.from_numpy(np.sin(angles + columns % 2 * np.pi / 2)).float()


@right("sinusoidal_positions")
def positions_by_stacking(T, D):
    rates = torch.exp(-np.log(10000.0) * torch.arange(0, D, 2).double() / D)
    angles = torch.outer(torch.arange(T).double(), rates)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)[:, :D].to(torch.float32)


# ---------------------------------------------------------------------------------------------
# sequence_loss. Rows of different lengths, no padding at all, nothing but padding; as many places as tokens.
_LOGITS = torch.tensor(
    [
        [[0.5, -1.0, 2.0, 0.25], [1.5, 0.0, -0.5, 1.0], [-2.0, 0.75, 0.5, 0.0]],
        [[1.0, 2.0, -1.5, 0.5], [0.0, -0.25, 1.25, -1.0], [3.0, 0.5, 0.25, -0.75]],
    ],
    requires_grad=True,
)  # (N, L, V) = (2, 3, 4)
_SQUARE = torch.tensor(
    [[[0.5, -1.0, 2.0], [1.5, 0.0, -0.5], [-2.0, 0.75, 0.5]], [[1.0, 2.0, -1.5], [0.0, -0.25, 1.25], [3.0, 0.5, 0.25]]],
    requires_grad=True,
)  # (N, L, V) = (2, 3, 3)

probe("sequence_loss", _LOGITS, torch.tensor([[2, 1, 3], [3, 0, 0]]))
probe("sequence_loss", _LOGITS, torch.tensor([[2, 1, 3], [3, 2, 1]]))
probe("sequence_loss", _SQUARE, torch.tensor([[2, 1, 0], [1, 2, 1]]))
probe("sequence_loss", _LOGITS, torch.zeros(2, 3, dtype=torch.long))


@wrong(
    "sequence_loss",
    "Padding is counted as if it had to be said: the model is praised for being silent, and short rows weigh little.",
)
def padding_counted(logits, target):
    return nn.functional.cross_entropy(logits.flatten(0, 1), target.flatten())


@wrong(
    "sequence_loss",
    "Padding costs nothing, and yet you divide by all places: the more padding, the smaller your loss. Divide by the number of real tokens.",
)
def divided_by_all_places(logits, target):
    costs = nn.functional.cross_entropy(logits.flatten(0, 1), target.flatten(), ignore_index=0, reduction="none")
    return costs.mean() if len(costs) else logits.sum()


@wrong("sequence_loss", "That is the sum of the costs, and not their mean: divide by the number of real tokens.")
def summed(logits, target):
    return nn.functional.cross_entropy(logits.flatten(0, 1), target.flatten(), ignore_index=0, reduction="sum")


@wrong(
    "sequence_loss",
    "You take a mean in each row and then the mean of the rows: a token in a short row weighs more than one in a long row. All real tokens weigh the same.",
)
def mean_of_rows(logits, target):
    real = (target != 0).to(logits.dtype)
    costs = nn.functional.cross_entropy(logits.transpose(1, 2), target, reduction="none") * real
    return (costs.sum(1) / real.sum(1).clamp(min=1)).mean()


@wrong(
    "sequence_loss",
    "A batch with no real token divides 0 by 0, and NaN comes out. One such batch would spoil every weight of the model.",
)
def nothing_divided_by_nothing(logits, target):
    return nn.functional.cross_entropy(logits.flatten(0, 1), target.flatten(), ignore_index=0)


@wrong(
    "sequence_loss",
    "Your logits go through a softmax, and then cross_entropy takes another one. It wants the logits as they are.",
)
def softmax_taken_twice(logits, target):
    p = logits.softmax(dim=-1).flatten(0, 1)
    summed = nn.functional.cross_entropy(p, target.flatten(), ignore_index=0, reduction="sum")
    return summed / (target != 0).sum().clamp(min=1)


@wrong(
    "sequence_loss",
    "You shift the target by one place: the loss compares each logit with the token after its own. The shift is done already, in target_in.",
)
def shifted_once_more(logits, target):
    logits, target = logits[:, :-1], target[:, 1:]
    summed = nn.functional.cross_entropy(logits.flatten(0, 1), target.flatten(), ignore_index=0, reduction="sum")
    return summed / (target != 0).sum().clamp(min=1)


@wrong(
    "sequence_loss",
    "cross_entropy wants the vocabulary in the second axis. reshape and view only draw new borders: they bring it there with its numbers mixed up.",
)
def vocabulary_reshaped_into_place(logits, target):
    N, L, V = logits.shape
    summed = nn.functional.cross_entropy(logits.reshape(N, V, L), target, ignore_index=0, reduction="sum")
    return summed / (target != 0).sum().clamp(min=1)


@wrong(
    "sequence_loss",
    "Your softmax runs over the places, and not over the vocabulary: cross_entropy takes the second axis for the vocabulary.",
)
def softmax_over_the_places(logits, target):
    p = logits.log_softmax(dim=1)
    costs = -p.gather(-1, target[..., None])[..., 0] * (target != 0)
    return costs.sum() / (target != 0).sum().clamp(min=1)


@wrong("sequence_loss", "The sign is the wrong way round: lowering this would make the right tokens less likely.")
def log_likelihood(logits, target):
    costs = logits.log_softmax(dim=-1).gather(-1, target[..., None])[..., 0] * (target != 0)
    return costs.sum() / (target != 0).sum().clamp(min=1)


@wrong(
    "sequence_loss",
    "You set the logits of padding to 0. Logits of 0 are not free: they stand for equal chances, and cost the log of the vocabulary's size.",
)
def logits_of_padding_set_to_zero(logits, target):
    real = (target != 0)[..., None]
    return nn.functional.cross_entropy((logits * real).transpose(1, 2), target)


@right("sequence_loss")
def loss_by_gather(logits, target):
    real = target != 0
    costs = -logits.log_softmax(dim=-1).gather(-1, target.unsqueeze(-1)).squeeze(-1)
    return costs.masked_fill(~real, 0).sum() / real.sum().clamp(min=1)


@right("sequence_loss")
def loss_of_the_real_rows(logits, target):
    real = target != 0
    if not real.any():
        return logits.sum() * 0
    return nn.functional.cross_entropy(logits[real], target[real])


@right("sequence_loss")
def loss_by_transposing(logits, target):
    costs = nn.functional.cross_entropy(logits.transpose(1, 2), target, ignore_index=0, reduction="none")
    return costs.sum() / max(int((target != 0).sum()), 1)


@right("sequence_loss")
def loss_token_by_token(logits, target):
    total, count = 0 * logits.sum(), 0
    for row, tokens in zip(logits, target.tolist(), strict=True):
        for scores, token in zip(row, tokens, strict=True):
            if token != 0:
                total = total - scores.log_softmax(dim=0)[token]
                count += 1
    return total / max(count, 1)


# ---------------------------------------------------------------------------------------------
# Seq2SeqTransformer. Padding behind, before and between the tokens, and none; source and target of different lengths.
_SIZES = {"source_vocab": 9, "target_vocab": 8, "d_model": 6, "n_heads": 2, "d_ff": 5, "n_layers": 2}
_WORDS = np.array([[3, 8, 1, 4, 7], [2, 5, 6, 0, 0], [0, 4, 0, 2, 8]])  # (N, S) = (3, 5)
_SAID = np.array([[1, 7, 4, 2], [1, 3, 0, 0], [0, 5, 0, 6]])  # (N, L) = (3, 4)

probe("Seq2SeqTransformer", ModuleProbe(_SIZES, (_WORDS, _SAID)))
probe("Seq2SeqTransformer", ModuleProbe(_SIZES, (_WORDS[:1], _SAID[:1, :3]), gradients=False))
probe("Seq2SeqTransformer", ModuleProbe(_SIZES | {"dropout": 0.5}, (_WORDS[:2, :3], _SAID[:2]), gradients=False))


@wrong(
    "Seq2SeqTransformer",
    "The embeddings go in as they are. Times √d_model they keep their weight beside the positions.",
)
class EmbeddingsNotScaled(nn.Module):
    def __init__(self, source_vocab, target_vocab, d_model=64, n_heads=4, d_ff=128, n_layers=2, dropout=0.0):
        super().__init__()
        self.source_embedding = nn.Embedding(source_vocab, d_model)
        self.target_embedding = nn.Embedding(target_vocab, d_model)
        self.encoder = nn.ModuleList(EncoderLayer(d_model, n_heads, d_ff, dropout) for _ in range(n_layers))
        self.decoder = nn.ModuleList(DecoderLayer(d_model, n_heads, d_ff, dropout) for _ in range(n_layers))
        self.encoder_norm = nn.LayerNorm(d_model)
        self.decoder_norm = nn.LayerNorm(d_model)
        self.output = nn.Linear(d_model, target_vocab)

    def encode(self, source):
        x = self.embed(self.source_embedding, source)
        real = (source != 0)[:, None, None, :]
        for layer in self.encoder:
            x = layer(x, real)
        return self.encoder_norm(x)

    def decode(self, target_in, memory, source):
        y = self.embed(self.target_embedding, target_in)
        causal = torch.ones(y.shape[1], y.shape[1], dtype=torch.bool).tril()
        seen = causal & (target_in != 0)[:, None, None, :]
        real = (source != 0)[:, None, None, :]
        for layer in self.decoder:
            y = layer(y, memory, seen, real)
        return self.output(self.decoder_norm(y))

    def forward(self, source, target_in):
        return self.decode(target_in, self.encode(source), source)

    def embed(self, embedding, tokens):
        D = embedding.weight.shape[1]
        return embedding(tokens) + sinusoidal_positions(tokens.shape[1], D)


@wrong(
    "Seq2SeqTransformer",
    "You scale the positions together with the embeddings. Scale first, then add.",
)
class PositionsScaledToo(nn.Module):
    def __init__(self, source_vocab, target_vocab, d_model=64, n_heads=4, d_ff=128, n_layers=2, dropout=0.0):
        super().__init__()
        self.source_embedding = nn.Embedding(source_vocab, d_model)
        self.target_embedding = nn.Embedding(target_vocab, d_model)
        self.encoder = nn.ModuleList(EncoderLayer(d_model, n_heads, d_ff, dropout) for _ in range(n_layers))
        self.decoder = nn.ModuleList(DecoderLayer(d_model, n_heads, d_ff, dropout) for _ in range(n_layers))
        self.encoder_norm = nn.LayerNorm(d_model)
        self.decoder_norm = nn.LayerNorm(d_model)
        self.output = nn.Linear(d_model, target_vocab)

    def encode(self, source):
        x = self.embed(self.source_embedding, source)
        real = (source != 0)[:, None, None, :]
        for layer in self.encoder:
            x = layer(x, real)
        return self.encoder_norm(x)

    def decode(self, target_in, memory, source):
        y = self.embed(self.target_embedding, target_in)
        causal = torch.ones(y.shape[1], y.shape[1], dtype=torch.bool).tril()
        seen = causal & (target_in != 0)[:, None, None, :]
        real = (source != 0)[:, None, None, :]
        for layer in self.decoder:
            y = layer(y, memory, seen, real)
        return self.output(self.decoder_norm(y))

    def forward(self, source, target_in):
        return self.decode(target_in, self.encode(source), source)

    def embed(self, embedding, tokens):
        D = embedding.weight.shape[1]
        return (embedding(tokens) + sinusoidal_positions(tokens.shape[1], D)) * D**0.5


@wrong(
    "Seq2SeqTransformer",
    "Nothing tells your words where they stand: the order of the source changes nothing.",
)
class PositionsForgotten(nn.Module):
    def __init__(self, source_vocab, target_vocab, d_model=64, n_heads=4, d_ff=128, n_layers=2, dropout=0.0):
        super().__init__()
        self.source_embedding = nn.Embedding(source_vocab, d_model)
        self.target_embedding = nn.Embedding(target_vocab, d_model)
        self.encoder = nn.ModuleList(EncoderLayer(d_model, n_heads, d_ff, dropout) for _ in range(n_layers))
        self.decoder = nn.ModuleList(DecoderLayer(d_model, n_heads, d_ff, dropout) for _ in range(n_layers))
        self.encoder_norm = nn.LayerNorm(d_model)
        self.decoder_norm = nn.LayerNorm(d_model)
        self.output = nn.Linear(d_model, target_vocab)

    def encode(self, source):
        x = self.embed(self.source_embedding, source)
        real = (source != 0)[:, None, None, :]
        for layer in self.encoder:
            x = layer(x, real)
        return self.encoder_norm(x)

    def decode(self, target_in, memory, source):
        y = self.embed(self.target_embedding, target_in)
        causal = torch.ones(y.shape[1], y.shape[1], dtype=torch.bool).tril()
        seen = causal & (target_in != 0)[:, None, None, :]
        real = (source != 0)[:, None, None, :]
        for layer in self.decoder:
            y = layer(y, memory, seen, real)
        return self.output(self.decoder_norm(y))

    def forward(self, source, target_in):
        return self.decode(target_in, self.encode(source), source)

    def embed(self, embedding, tokens):
        D = embedding.weight.shape[1]
        return embedding(tokens) * D**0.5


@wrong(
    "Seq2SeqTransformer",
    "Your decoder sees the tokens that it is to say. It would train beautifully, and then have nothing to copy from.",
)
class DecoderSeesTheFuture(nn.Module):
    def __init__(self, source_vocab, target_vocab, d_model=64, n_heads=4, d_ff=128, n_layers=2, dropout=0.0):
        super().__init__()
        self.source_embedding = nn.Embedding(source_vocab, d_model)
        self.target_embedding = nn.Embedding(target_vocab, d_model)
        self.encoder = nn.ModuleList(EncoderLayer(d_model, n_heads, d_ff, dropout) for _ in range(n_layers))
        self.decoder = nn.ModuleList(DecoderLayer(d_model, n_heads, d_ff, dropout) for _ in range(n_layers))
        self.encoder_norm = nn.LayerNorm(d_model)
        self.decoder_norm = nn.LayerNorm(d_model)
        self.output = nn.Linear(d_model, target_vocab)

    def encode(self, source):
        x = self.embed(self.source_embedding, source)
        real = (source != 0)[:, None, None, :]
        for layer in self.encoder:
            x = layer(x, real)
        return self.encoder_norm(x)

    def decode(self, target_in, memory, source):
        y = self.embed(self.target_embedding, target_in)
        seen = (target_in != 0)[:, None, None, :]
        real = (source != 0)[:, None, None, :]
        for layer in self.decoder:
            y = layer(y, memory, seen, real)
        return self.output(self.decoder_norm(y))

    def forward(self, source, target_in):
        return self.decode(target_in, self.encode(source), source)

    def embed(self, embedding, tokens):
        D = embedding.weight.shape[1]
        return embedding(tokens) * D**0.5 + sinusoidal_positions(tokens.shape[1], D)


@wrong(
    "Seq2SeqTransformer",
    "Your causal mask lets a token see the later ones, and hides those before it.",
)
class CausalMaskTurnedRound(nn.Module):
    def __init__(self, source_vocab, target_vocab, d_model=64, n_heads=4, d_ff=128, n_layers=2, dropout=0.0):
        super().__init__()
        self.source_embedding = nn.Embedding(source_vocab, d_model)
        self.target_embedding = nn.Embedding(target_vocab, d_model)
        self.encoder = nn.ModuleList(EncoderLayer(d_model, n_heads, d_ff, dropout) for _ in range(n_layers))
        self.decoder = nn.ModuleList(DecoderLayer(d_model, n_heads, d_ff, dropout) for _ in range(n_layers))
        self.encoder_norm = nn.LayerNorm(d_model)
        self.decoder_norm = nn.LayerNorm(d_model)
        self.output = nn.Linear(d_model, target_vocab)

    def encode(self, source):
        x = self.embed(self.source_embedding, source)
        real = (source != 0)[:, None, None, :]
        for layer in self.encoder:
            x = layer(x, real)
        return self.encoder_norm(x)

    def decode(self, target_in, memory, source):
        y = self.embed(self.target_embedding, target_in)
        causal = torch.ones(y.shape[1], y.shape[1], dtype=torch.bool).triu()
        seen = causal & (target_in != 0)[:, None, None, :]
        real = (source != 0)[:, None, None, :]
        for layer in self.decoder:
            y = layer(y, memory, seen, real)
        return self.output(self.decoder_norm(y))

    def forward(self, source, target_in):
        return self.decode(target_in, self.encode(source), source)

    def embed(self, embedding, tokens):
        D = embedding.weight.shape[1]
        return embedding(tokens) * D**0.5 + sinusoidal_positions(tokens.shape[1], D)


@wrong(
    "Seq2SeqTransformer",
    'Your masks hide the real tokens and show the padding. True means "may attend".',
    "In which places should the mask be True: where the token is 0, or where it is not?",
)
class MasksTurnedRound(nn.Module):
    def __init__(self, source_vocab, target_vocab, d_model=64, n_heads=4, d_ff=128, n_layers=2, dropout=0.0):
        super().__init__()
        self.source_embedding = nn.Embedding(source_vocab, d_model)
        self.target_embedding = nn.Embedding(target_vocab, d_model)
        self.encoder = nn.ModuleList(EncoderLayer(d_model, n_heads, d_ff, dropout) for _ in range(n_layers))
        self.decoder = nn.ModuleList(DecoderLayer(d_model, n_heads, d_ff, dropout) for _ in range(n_layers))
        self.encoder_norm = nn.LayerNorm(d_model)
        self.decoder_norm = nn.LayerNorm(d_model)
        self.output = nn.Linear(d_model, target_vocab)

    def encode(self, source):
        x = self.embed(self.source_embedding, source)
        real = (source == 0)[:, None, None, :]
        for layer in self.encoder:
            x = layer(x, real)
        return self.encoder_norm(x)

    def decode(self, target_in, memory, source):
        y = self.embed(self.target_embedding, target_in)
        causal = torch.ones(y.shape[1], y.shape[1], dtype=torch.bool).tril()
        seen = causal & (target_in == 0)[:, None, None, :]
        real = (source == 0)[:, None, None, :]
        for layer in self.decoder:
            y = layer(y, memory, seen, real)
        return self.output(self.decoder_norm(y))

    def forward(self, source, target_in):
        return self.decode(target_in, self.encode(source), source)

    def embed(self, embedding, tokens):
        D = embedding.weight.shape[1]
        return embedding(tokens) * D**0.5 + sinusoidal_positions(tokens.shape[1], D)


@wrong(
    "Seq2SeqTransformer",
    "The encoder's words attend to the padding of their sentence.",
)
class SourcePaddingSeenByTheEncoder(nn.Module):
    def __init__(self, source_vocab, target_vocab, d_model=64, n_heads=4, d_ff=128, n_layers=2, dropout=0.0):
        super().__init__()
        self.source_embedding = nn.Embedding(source_vocab, d_model)
        self.target_embedding = nn.Embedding(target_vocab, d_model)
        self.encoder = nn.ModuleList(EncoderLayer(d_model, n_heads, d_ff, dropout) for _ in range(n_layers))
        self.decoder = nn.ModuleList(DecoderLayer(d_model, n_heads, d_ff, dropout) for _ in range(n_layers))
        self.encoder_norm = nn.LayerNorm(d_model)
        self.decoder_norm = nn.LayerNorm(d_model)
        self.output = nn.Linear(d_model, target_vocab)

    def encode(self, source):
        x = self.embed(self.source_embedding, source)
        for layer in self.encoder:
            x = layer(x)
        return self.encoder_norm(x)

    def decode(self, target_in, memory, source):
        y = self.embed(self.target_embedding, target_in)
        causal = torch.ones(y.shape[1], y.shape[1], dtype=torch.bool).tril()
        seen = causal & (target_in != 0)[:, None, None, :]
        real = (source != 0)[:, None, None, :]
        for layer in self.decoder:
            y = layer(y, memory, seen, real)
        return self.output(self.decoder_norm(y))

    def forward(self, source, target_in):
        return self.decode(target_in, self.encode(source), source)

    def embed(self, embedding, tokens):
        D = embedding.weight.shape[1]
        return embedding(tokens) * D**0.5 + sinusoidal_positions(tokens.shape[1], D)


@wrong(
    "Seq2SeqTransformer",
    "The decoder attends to the memory of padding: it needs the source's mask as well.",
)
class SourcePaddingSeenByTheDecoder(nn.Module):
    def __init__(self, source_vocab, target_vocab, d_model=64, n_heads=4, d_ff=128, n_layers=2, dropout=0.0):
        super().__init__()
        self.source_embedding = nn.Embedding(source_vocab, d_model)
        self.target_embedding = nn.Embedding(target_vocab, d_model)
        self.encoder = nn.ModuleList(EncoderLayer(d_model, n_heads, d_ff, dropout) for _ in range(n_layers))
        self.decoder = nn.ModuleList(DecoderLayer(d_model, n_heads, d_ff, dropout) for _ in range(n_layers))
        self.encoder_norm = nn.LayerNorm(d_model)
        self.decoder_norm = nn.LayerNorm(d_model)
        self.output = nn.Linear(d_model, target_vocab)

    def encode(self, source):
        x = self.embed(self.source_embedding, source)
        real = (source != 0)[:, None, None, :]
        for layer in self.encoder:
            x = layer(x, real)
        return self.encoder_norm(x)

    def decode(self, target_in, memory, source):
        y = self.embed(self.target_embedding, target_in)
        causal = torch.ones(y.shape[1], y.shape[1], dtype=torch.bool).tril()
        seen = causal & (target_in != 0)[:, None, None, :]
        for layer in self.decoder:
            y = layer(y, memory, seen)
        return self.output(self.decoder_norm(y))

    def forward(self, source, target_in):
        return self.decode(target_in, self.encode(source), source)

    def embed(self, embedding, tokens):
        D = embedding.weight.shape[1]
        return embedding(tokens) * D**0.5 + sinusoidal_positions(tokens.shape[1], D)


@wrong(
    "Seq2SeqTransformer",
    "Your target's mask is causal and no more: padding before or between real tokens is seen by those behind it.",
)
class TargetPaddingSeen(nn.Module):
    def __init__(self, source_vocab, target_vocab, d_model=64, n_heads=4, d_ff=128, n_layers=2, dropout=0.0):
        super().__init__()
        self.source_embedding = nn.Embedding(source_vocab, d_model)
        self.target_embedding = nn.Embedding(target_vocab, d_model)
        self.encoder = nn.ModuleList(EncoderLayer(d_model, n_heads, d_ff, dropout) for _ in range(n_layers))
        self.decoder = nn.ModuleList(DecoderLayer(d_model, n_heads, d_ff, dropout) for _ in range(n_layers))
        self.encoder_norm = nn.LayerNorm(d_model)
        self.decoder_norm = nn.LayerNorm(d_model)
        self.output = nn.Linear(d_model, target_vocab)

    def encode(self, source):
        x = self.embed(self.source_embedding, source)
        real = (source != 0)[:, None, None, :]
        for layer in self.encoder:
            x = layer(x, real)
        return self.encoder_norm(x)

    def decode(self, target_in, memory, source):
        y = self.embed(self.target_embedding, target_in)
        causal = torch.ones(y.shape[1], y.shape[1], dtype=torch.bool).tril()
        seen = causal
        real = (source != 0)[:, None, None, :]
        for layer in self.decoder:
            y = layer(y, memory, seen, real)
        return self.output(self.decoder_norm(y))

    def forward(self, source, target_in):
        return self.decode(target_in, self.encode(source), source)

    def embed(self, embedding, tokens):
        D = embedding.weight.shape[1]
        return embedding(tokens) * D**0.5 + sinusoidal_positions(tokens.shape[1], D)


@wrong(
    "Seq2SeqTransformer",
    "The two masks of the decoder layers have changed places: target_mask comes first.",
)
class MasksExchanged(nn.Module):
    def __init__(self, source_vocab, target_vocab, d_model=64, n_heads=4, d_ff=128, n_layers=2, dropout=0.0):
        super().__init__()
        self.source_embedding = nn.Embedding(source_vocab, d_model)
        self.target_embedding = nn.Embedding(target_vocab, d_model)
        self.encoder = nn.ModuleList(EncoderLayer(d_model, n_heads, d_ff, dropout) for _ in range(n_layers))
        self.decoder = nn.ModuleList(DecoderLayer(d_model, n_heads, d_ff, dropout) for _ in range(n_layers))
        self.encoder_norm = nn.LayerNorm(d_model)
        self.decoder_norm = nn.LayerNorm(d_model)
        self.output = nn.Linear(d_model, target_vocab)

    def encode(self, source):
        x = self.embed(self.source_embedding, source)
        real = (source != 0)[:, None, None, :]
        for layer in self.encoder:
            x = layer(x, real)
        return self.encoder_norm(x)

    def decode(self, target_in, memory, source):
        y = self.embed(self.target_embedding, target_in)
        causal = torch.ones(y.shape[1], y.shape[1], dtype=torch.bool).tril()
        seen = causal & (target_in != 0)[:, None, None, :]
        real = (source != 0)[:, None, None, :]
        for layer in self.decoder:
            y = layer(y, memory, real, seen)
        return self.output(self.decoder_norm(y))

    def forward(self, source, target_in):
        return self.decode(target_in, self.encode(source), source)

    def embed(self, embedding, tokens):
        D = embedding.weight.shape[1]
        return embedding(tokens) * D**0.5 + sinusoidal_positions(tokens.shape[1], D)


@wrong(
    "Seq2SeqTransformer",
    "The memory is not normalised: encoder_norm comes behind the last encoder layer.",
)
class EncoderNormForgotten(nn.Module):
    def __init__(self, source_vocab, target_vocab, d_model=64, n_heads=4, d_ff=128, n_layers=2, dropout=0.0):
        super().__init__()
        self.source_embedding = nn.Embedding(source_vocab, d_model)
        self.target_embedding = nn.Embedding(target_vocab, d_model)
        self.encoder = nn.ModuleList(EncoderLayer(d_model, n_heads, d_ff, dropout) for _ in range(n_layers))
        self.decoder = nn.ModuleList(DecoderLayer(d_model, n_heads, d_ff, dropout) for _ in range(n_layers))
        self.encoder_norm = nn.LayerNorm(d_model)
        self.decoder_norm = nn.LayerNorm(d_model)
        self.output = nn.Linear(d_model, target_vocab)

    def encode(self, source):
        x = self.embed(self.source_embedding, source)
        real = (source != 0)[:, None, None, :]
        for layer in self.encoder:
            x = layer(x, real)
        return x

    def decode(self, target_in, memory, source):
        y = self.embed(self.target_embedding, target_in)
        causal = torch.ones(y.shape[1], y.shape[1], dtype=torch.bool).tril()
        seen = causal & (target_in != 0)[:, None, None, :]
        real = (source != 0)[:, None, None, :]
        for layer in self.decoder:
            y = layer(y, memory, seen, real)
        return self.output(self.decoder_norm(y))

    def forward(self, source, target_in):
        return self.decode(target_in, self.encode(source), source)

    def embed(self, embedding, tokens):
        D = embedding.weight.shape[1]
        return embedding(tokens) * D**0.5 + sinusoidal_positions(tokens.shape[1], D)


@wrong(
    "Seq2SeqTransformer",
    "decoder_norm is left out: it comes between the last decoder layer and the output.",
)
class DecoderNormForgotten(nn.Module):
    def __init__(self, source_vocab, target_vocab, d_model=64, n_heads=4, d_ff=128, n_layers=2, dropout=0.0):
        super().__init__()
        self.source_embedding = nn.Embedding(source_vocab, d_model)
        self.target_embedding = nn.Embedding(target_vocab, d_model)
        self.encoder = nn.ModuleList(EncoderLayer(d_model, n_heads, d_ff, dropout) for _ in range(n_layers))
        self.decoder = nn.ModuleList(DecoderLayer(d_model, n_heads, d_ff, dropout) for _ in range(n_layers))
        self.encoder_norm = nn.LayerNorm(d_model)
        self.decoder_norm = nn.LayerNorm(d_model)
        self.output = nn.Linear(d_model, target_vocab)

    def encode(self, source):
        x = self.embed(self.source_embedding, source)
        real = (source != 0)[:, None, None, :]
        for layer in self.encoder:
            x = layer(x, real)
        return self.encoder_norm(x)

    def decode(self, target_in, memory, source):
        y = self.embed(self.target_embedding, target_in)
        causal = torch.ones(y.shape[1], y.shape[1], dtype=torch.bool).tril()
        seen = causal & (target_in != 0)[:, None, None, :]
        real = (source != 0)[:, None, None, :]
        for layer in self.decoder:
            y = layer(y, memory, seen, real)
        return self.output(y)

    def forward(self, source, target_in):
        return self.decode(target_in, self.encode(source), source)

    def embed(self, embedding, tokens):
        D = embedding.weight.shape[1]
        return embedding(tokens) * D**0.5 + sinusoidal_positions(tokens.shape[1], D)


@wrong(
    "Seq2SeqTransformer",
    "Your encoder reads the target instead of the source: in training it sees all that is to be said.",
)
class EncoderSeesTheTarget(nn.Module):
    def __init__(self, source_vocab, target_vocab, d_model=64, n_heads=4, d_ff=128, n_layers=2, dropout=0.0):
        super().__init__()
        self.source_embedding = nn.Embedding(source_vocab, d_model)
        self.target_embedding = nn.Embedding(target_vocab, d_model)
        self.encoder = nn.ModuleList(EncoderLayer(d_model, n_heads, d_ff, dropout) for _ in range(n_layers))
        self.decoder = nn.ModuleList(DecoderLayer(d_model, n_heads, d_ff, dropout) for _ in range(n_layers))
        self.encoder_norm = nn.LayerNorm(d_model)
        self.decoder_norm = nn.LayerNorm(d_model)
        self.output = nn.Linear(d_model, target_vocab)

    def encode(self, source):
        x = self.embed(self.source_embedding, source)
        real = (source != 0)[:, None, None, :]
        for layer in self.encoder:
            x = layer(x, real)
        return self.encoder_norm(x)

    def decode(self, target_in, memory, source):
        y = self.embed(self.target_embedding, target_in)
        causal = torch.ones(y.shape[1], y.shape[1], dtype=torch.bool).tril()
        seen = causal & (target_in != 0)[:, None, None, :]
        real = (source != 0)[:, None, None, :]
        for layer in self.decoder:
            y = layer(y, memory, seen, real)
        return self.output(self.decoder_norm(y))

    def forward(self, source, target_in):
        return self.decode(target_in, self.encode(target_in), target_in)

    def embed(self, embedding, tokens):
        D = embedding.weight.shape[1]
        return embedding(tokens) * D**0.5 + sinusoidal_positions(tokens.shape[1], D)


@wrong(
    "Seq2SeqTransformer",
    "A softmax stands behind the output. The loss takes it itself, and wants the logits.",
)
class ProbabilitiesForLogits(nn.Module):
    def __init__(self, source_vocab, target_vocab, d_model=64, n_heads=4, d_ff=128, n_layers=2, dropout=0.0):
        super().__init__()
        self.source_embedding = nn.Embedding(source_vocab, d_model)
        self.target_embedding = nn.Embedding(target_vocab, d_model)
        self.encoder = nn.ModuleList(EncoderLayer(d_model, n_heads, d_ff, dropout) for _ in range(n_layers))
        self.decoder = nn.ModuleList(DecoderLayer(d_model, n_heads, d_ff, dropout) for _ in range(n_layers))
        self.encoder_norm = nn.LayerNorm(d_model)
        self.decoder_norm = nn.LayerNorm(d_model)
        self.output = nn.Linear(d_model, target_vocab)

    def encode(self, source):
        x = self.embed(self.source_embedding, source)
        real = (source != 0)[:, None, None, :]
        for layer in self.encoder:
            x = layer(x, real)
        return self.encoder_norm(x)

    def decode(self, target_in, memory, source):
        y = self.embed(self.target_embedding, target_in)
        causal = torch.ones(y.shape[1], y.shape[1], dtype=torch.bool).tril()
        seen = causal & (target_in != 0)[:, None, None, :]
        real = (source != 0)[:, None, None, :]
        for layer in self.decoder:
            y = layer(y, memory, seen, real)
        return self.output(self.decoder_norm(y)).softmax(dim=-1)

    def forward(self, source, target_in):
        return self.decode(target_in, self.encode(source), source)

    def embed(self, embedding, tokens):
        D = embedding.weight.shape[1]
        return embedding(tokens) * D**0.5 + sinusoidal_positions(tokens.shape[1], D)


@wrong(
    "Seq2SeqTransformer",
    "Something is dropped outside the layers, and in evaluation too: your result changes from call to call.",
)
class EmbeddingsDroppedAlways(nn.Module):
    def __init__(self, source_vocab, target_vocab, d_model=64, n_heads=4, d_ff=128, n_layers=2, dropout=0.0):
        super().__init__()
        self.source_embedding = nn.Embedding(source_vocab, d_model)
        self.target_embedding = nn.Embedding(target_vocab, d_model)
        self.encoder = nn.ModuleList(EncoderLayer(d_model, n_heads, d_ff, dropout) for _ in range(n_layers))
        self.decoder = nn.ModuleList(DecoderLayer(d_model, n_heads, d_ff, dropout) for _ in range(n_layers))
        self.encoder_norm = nn.LayerNorm(d_model)
        self.decoder_norm = nn.LayerNorm(d_model)
        self.output = nn.Linear(d_model, target_vocab)

    def encode(self, source):
        x = self.embed(self.source_embedding, source)
        real = (source != 0)[:, None, None, :]
        for layer in self.encoder:
            x = layer(x, real)
        return self.encoder_norm(x)

    def decode(self, target_in, memory, source):
        y = self.embed(self.target_embedding, target_in)
        causal = torch.ones(y.shape[1], y.shape[1], dtype=torch.bool).tril()
        seen = causal & (target_in != 0)[:, None, None, :]
        real = (source != 0)[:, None, None, :]
        for layer in self.decoder:
            y = layer(y, memory, seen, real)
        return self.output(self.decoder_norm(y))

    def forward(self, source, target_in):
        return self.decode(target_in, self.encode(source), source)

    def embed(self, embedding, tokens):
        D = embedding.weight.shape[1]
        return nn.functional.dropout(embedding(tokens) * D**0.5 + sinusoidal_positions(tokens.shape[1], D), 0.1)


@right("Seq2SeqTransformer")
class TransformerWithMasksOfThreeAxes(nn.Module):
    def __init__(self, source_vocab, target_vocab, d_model=64, n_heads=4, d_ff=128, n_layers=2, dropout=0.0):
        super().__init__()
        self.source_embedding = nn.Embedding(source_vocab, d_model)
        self.target_embedding = nn.Embedding(target_vocab, d_model)
        self.encoder = nn.ModuleList(EncoderLayer(d_model, n_heads, d_ff, dropout) for _ in range(n_layers))
        self.decoder = nn.ModuleList(DecoderLayer(d_model, n_heads, d_ff, dropout) for _ in range(n_layers))
        self.encoder_norm = nn.LayerNorm(d_model)
        self.decoder_norm = nn.LayerNorm(d_model)
        self.output = nn.Linear(d_model, target_vocab)

    def encode(self, source):
        N, S = source.shape
        x = self.source_embedding(source) * self.source_embedding.embedding_dim**0.5
        x = x + sinusoidal_positions(S, x.shape[-1])
        for layer in self.encoder:
            x = layer(x, source_mask=source.ne(0)[:, None, :].expand(N, S, S))
        return self.encoder_norm(x)

    def decode(self, target_in, memory, source):
        N, L = target_in.shape
        y = self.target_embedding(target_in) * self.target_embedding.embedding_dim**0.5
        y = y + sinusoidal_positions(L, y.shape[-1])
        steps = torch.arange(L)
        seen = (steps[:, None] >= steps) & target_in.ne(0)[:, None, :]
        for layer in self.decoder:
            y = layer(y, memory, target_mask=seen, source_mask=source.ne(0)[:, None, :].expand(N, L, -1))
        return self.output(self.decoder_norm(y))

    def forward(self, source, target_in):
        memory = self.encode(source)
        return self.decode(target_in, memory, source)


@right("Seq2SeqTransformer")
class TransformerWithAMaskWritten(nn.Module):
    def __init__(self, source_vocab, target_vocab, d_model=64, n_heads=4, d_ff=128, n_layers=2, dropout=0.0):
        super().__init__()
        self.source_embedding = nn.Embedding(source_vocab, d_model)
        self.target_embedding = nn.Embedding(target_vocab, d_model)
        self.encoder = nn.ModuleList(EncoderLayer(d_model, n_heads, d_ff, dropout) for _ in range(n_layers))
        self.decoder = nn.ModuleList(DecoderLayer(d_model, n_heads, d_ff, dropout) for _ in range(n_layers))
        self.encoder_norm = nn.LayerNorm(d_model)
        self.decoder_norm = nn.LayerNorm(d_model)
        self.output = nn.Linear(d_model, target_vocab)

    def encode(self, source):
        T, D = source.shape[1], self.encoder_norm.normalized_shape[0]
        x = np.sqrt(D) * self.source_embedding(source) + sinusoidal_positions(T, D)
        mask = source.bool().unsqueeze(1).unsqueeze(1)
        for i in range(len(self.encoder)):
            x = self.encoder[i](x, mask)
        return self.encoder_norm(x)

    def decode(self, target_in, memory, source):
        T, D = target_in.shape[1], self.decoder_norm.normalized_shape[0]
        y = np.sqrt(D) * self.target_embedding(target_in) + sinusoidal_positions(T, D)
        later = torch.triu(torch.ones(T, T), diagonal=1).bool()
        mask = target_in.bool().unsqueeze(1).unsqueeze(1) & ~later
        for i in range(len(self.decoder)):
            y = self.decoder[i](y, memory, mask, source.bool().unsqueeze(1).unsqueeze(1))
        return self.output(self.decoder_norm(y))

    def forward(self, source, target_in):
        return self.decode(target_in, self.encode(source), source)


@right("Seq2SeqTransformer")
class TransformerWithHelpers(nn.Module):
    def __init__(self, source_vocab, target_vocab, d_model=64, n_heads=4, d_ff=128, n_layers=2, dropout=0.0):
        super().__init__()
        self.source_embedding = nn.Embedding(source_vocab, d_model)
        self.target_embedding = nn.Embedding(target_vocab, d_model)
        self.encoder = nn.ModuleList(EncoderLayer(d_model, n_heads, d_ff, dropout) for _ in range(n_layers))
        self.decoder = nn.ModuleList(DecoderLayer(d_model, n_heads, d_ff, dropout) for _ in range(n_layers))
        self.encoder_norm = nn.LayerNorm(d_model)
        self.decoder_norm = nn.LayerNorm(d_model)
        self.output = nn.Linear(d_model, target_vocab)

    def positions(self, x):
        return sinusoidal_positions(x.shape[-2], x.shape[-1]).to(x.device, x.dtype)

    def begin(self, embedding, tokens):
        x = embedding(tokens).mul(embedding.embedding_dim**0.5)
        return x + self.positions(x), tokens.ne(0)[:, None, None]

    def encode(self, source):
        x, real = self.begin(self.source_embedding, source)
        for layer in self.encoder:
            x = layer(x, real)
        return self.encoder_norm(x)

    def decode(self, target_in, memory, source):
        y, real = self.begin(self.target_embedding, target_in)
        L = target_in.size(1)
        for layer in self.decoder:
            y = layer(y, memory, torch.tril(real.expand(-1, 1, L, L)), source.ne(0)[:, None, None])
        return self.output(self.decoder_norm(y))

    def forward(self, source, target_in):
        return self.decode(target_in=target_in, memory=self.encode(source), source=source)


# ---------------------------------------------------------------------------------------------
# fused_attention. All sizes differ; equal sizes; one query; masks of two, three and four axes, alone and with causal;
# a query that sees nothing; every weight dropped; and two calls that look at the work alone.
def _tensors(*shapes):
    rng = np.random.default_rng(7)
    return [torch.from_numpy(rng.normal(size=shape).round(2)) for shape in shapes]


_Q, _K, _V = _tensors((2, 2, 3, 2), (2, 2, 4, 2), (2, 2, 4, 3))  # (N, h, L, d), (N, h, S, d), (N, h, S, d_v)
_ROWS = torch.tensor([[True, False, True, True], [False] * 4, [True, True, False, False]])  # (L, S)
_BOTH = torch.stack([_ROWS, ~_ROWS])  # (N, L, S)
_MANY, _KEYS, _VALUES = _tensors((1, 2, 24, 2), (1, 2, 30, 2), (1, 2, 30, 2))
_CALLED = {"needed": ("scaled_dot_product_attention",)}

probe("fused_attention", _Q, _K, _V)
probe("fused_attention", _Q, _K, _V, _ROWS)
probe("fused_attention", _Q, _K, _V, _BOTH)
probe("fused_attention", _Q, _K, _V, causal=True)
probe("fused_attention", _Q[:, :, :1], _K, _V, causal=True)
probe("fused_attention", _K, _K, _V, causal=True)
probe("fused_attention", _Q, _K, _V, _ROWS[:1], causal=True)
probe("fused_attention", _K, _K, _V, torch.tensor([[True, False, True, True]]), causal=True)
probe("fused_attention", _K, _Q, _Q, causal=True, naming=(4, 3))
probe("fused_attention", _Q, _K, _V, dropout_p=1.0)
probe("fused_attention", _MANY, _MANY, _MANY, causal=True, most={"largest": 24 * 24 - 1}, **_CALLED)
probe("fused_attention", _MANY, _KEYS, _VALUES, causal=True, most={"largest": 2 * 24 * 30 - 1}, **_CALLED)


@wrong(
    "fused_attention",
    "The numbers are right, and the table of weights is there again: a softmax of your own writes it down. Let the fused kernel do all of it.",
)
def softmax_by_hand(q, k, v, mask=None, causal=False, dropout_p=0.0):
    L, S = q.shape[-2], k.shape[-2]
    if causal and S < L:
        raise ValueError(f"{L} queries, {S} keys")
    if mask is not None and mask.dim() == 3:
        mask = mask.unsqueeze(1)
    if causal and (mask is not None or L != S):
        visible = torch.ones(L, S, dtype=torch.bool).tril(S - L)
        mask = visible if mask is None else visible & mask
        causal = False
    scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
    if causal:
        mask = torch.ones(L, S, dtype=torch.bool).tril()
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    a = scores.softmax(dim=-1).nan_to_num()
    return nn.functional.dropout(a, dropout_p) @ v


@wrong(
    "fused_attention",
    "With fewer queries than keys your causal mask starts at the top left: the first query sees one key, and the last one misses the newest keys.",
    "The last query sees every key. How many keys more than that does a mask with its corner at the top left hide?",
)
def aligned_at_the_top_left(q, k, v, mask=None, causal=False, dropout_p=0.0):
    L, S = q.shape[-2], k.shape[-2]
    if causal and S < L:
        raise ValueError(f"{L} queries, {S} keys")
    if mask is not None and mask.dim() == 3:
        mask = mask.unsqueeze(1)
    if causal and (mask is not None or L != S):
        visible = torch.ones(L, S, dtype=torch.bool).tril()
        mask = visible if mask is None else visible & mask
        causal = False
    return nn.functional.scaled_dot_product_attention(q, k, v, mask, dropout_p, causal)


@wrong(
    "fused_attention",
    "is_causal lines queries and keys up at the top left. That is what you want with as many keys as queries, and not with more.",
)
def is_causal_for_every_length(q, k, v, mask=None, causal=False, dropout_p=0.0):
    L, S = q.shape[-2], k.shape[-2]
    if causal and S < L:
        raise ValueError(f"{L} queries, {S} keys")
    if mask is not None and mask.dim() == 3:
        mask = mask.unsqueeze(1)
    if causal and mask is not None:
        visible = torch.ones(L, S, dtype=torch.bool).tril(S - L)
        mask = visible if mask is None else visible & mask
        causal = False
    return nn.functional.scaled_dot_product_attention(q, k, v, mask, dropout_p, causal)


@wrong(
    "fused_attention",
    'Your mask hides what should be seen and shows what should be hidden: here, too, True means "may attend".',
)
def mask_turned_round(q, k, v, mask=None, causal=False, dropout_p=0.0):
    L, S = q.shape[-2], k.shape[-2]
    if causal and S < L:
        raise ValueError(f"{L} queries, {S} keys")
    if mask is not None and mask.dim() == 3:
        mask = mask.unsqueeze(1)
    mask = None if mask is None else ~mask
    if causal and (mask is not None or L != S):
        visible = torch.ones(L, S, dtype=torch.bool).tril(S - L)
        mask = visible if mask is None else visible & mask
        causal = False
    return nn.functional.scaled_dot_product_attention(q, k, v, mask, dropout_p, causal)


@wrong(
    "fused_attention",
    "When a mask is given, your attention is no longer causal. Both may be asked for at once.",
)
def causal_forgotten_beside_a_mask(q, k, v, mask=None, causal=False, dropout_p=0.0):
    L, S = q.shape[-2], k.shape[-2]
    if causal and S < L:
        raise ValueError(f"{L} queries, {S} keys")
    if mask is not None and mask.dim() == 3:
        mask = mask.unsqueeze(1)
    if causal and (mask is not None or L != S):
        visible = torch.ones(L, S, dtype=torch.bool).tril(S - L)
        mask = visible if mask is None else mask
        causal = False
    return nn.functional.scaled_dot_product_attention(q, k, v, mask, dropout_p, causal)


@wrong(
    "fused_attention",
    "When your attention is causal, the mask that was given has no effect.",
)
def mask_forgotten_when_causal(q, k, v, mask=None, causal=False, dropout_p=0.0):
    L, S = q.shape[-2], k.shape[-2]
    if causal and S < L:
        raise ValueError(f"{L} queries, {S} keys")
    if mask is not None and mask.dim() == 3:
        mask = mask.unsqueeze(1)
    if causal and (mask is not None or L != S):
        visible = torch.ones(L, S, dtype=torch.bool).tril(S - L)
        mask = visible
        causal = False
    return nn.functional.scaled_dot_product_attention(q, k, v, mask, dropout_p, causal)


@wrong(
    "fused_attention",
    "With a mask and causal together you let a key be seen that only one of them shows. It must be visible in both.",
)
def visible_in_either(q, k, v, mask=None, causal=False, dropout_p=0.0):
    L, S = q.shape[-2], k.shape[-2]
    if causal and S < L:
        raise ValueError(f"{L} queries, {S} keys")
    if mask is not None and mask.dim() == 3:
        mask = mask.unsqueeze(1)
    if causal and (mask is not None or L != S):
        visible = torch.ones(L, S, dtype=torch.bool).tril(S - L)
        mask = visible if mask is None else visible | mask
        causal = False
    return nn.functional.scaled_dot_product_attention(q, k, v, mask, dropout_p, causal)


@wrong(
    "fused_attention",
    "The kernel refuses attn_mask and is_causal together: make one mask of the two.",
)
def both_handed_over(q, k, v, mask=None, causal=False, dropout_p=0.0):
    L, S = q.shape[-2], k.shape[-2]
    if causal and S < L:
        raise ValueError(f"{L} queries, {S} keys")
    if mask is not None and mask.dim() == 3:
        mask = mask.unsqueeze(1)
    if causal and L != S:
        visible = torch.ones(L, S, dtype=torch.bool).tril(S - L)
        mask = visible if mask is None else visible & mask
        causal = False
    return nn.functional.scaled_dot_product_attention(q, k, v, mask, dropout_p, causal)


@wrong(
    "fused_attention",
    "A mask of shape (N, L, S) has one page for each sentence. As it comes, it is lined up with the heads.",
)
def mask_of_three_axes_as_it_comes(q, k, v, mask=None, causal=False, dropout_p=0.0):
    L, S = q.shape[-2], k.shape[-2]
    if causal and S < L:
        raise ValueError(f"{L} queries, {S} keys")
    if mask is not None and mask.dim() == 3:
        mask = mask + False
    if causal and (mask is not None or L != S):
        visible = torch.ones(L, S, dtype=torch.bool).tril(S - L)
        mask = visible if mask is None else visible & mask
        causal = False
    return nn.functional.scaled_dot_product_attention(q, k, v, mask, dropout_p, causal)


@wrong(
    "fused_attention",
    "Your mask arrives as numbers, and numbers are added to the scores: 1 for what may be seen, 0 for what may not. A boolean mask is taken for what it is.",
)
def mask_added_as_numbers(q, k, v, mask=None, causal=False, dropout_p=0.0):
    L, S = q.shape[-2], k.shape[-2]
    if causal and S < L:
        raise ValueError(f"{L} queries, {S} keys")
    if mask is not None and mask.dim() == 3:
        mask = mask.unsqueeze(1)
    if causal and (mask is not None or L != S):
        visible = torch.ones(L, S, dtype=torch.bool).tril(S - L)
        mask = visible if mask is None else visible & mask
        causal = False
    mask = None if mask is None else mask.to(q.dtype)
    return nn.functional.scaled_dot_product_attention(q, k, v, mask, dropout_p, causal)


@wrong(
    "fused_attention",
    "A query that may attend to nothing gets the mean of all values: where every score is equally low, softmax shares out as if all were visible.",
)
def a_large_number_for_hidden(q, k, v, mask=None, causal=False, dropout_p=0.0):
    L, S = q.shape[-2], k.shape[-2]
    if causal and S < L:
        raise ValueError(f"{L} queries, {S} keys")
    if mask is not None and mask.dim() == 3:
        mask = mask.unsqueeze(1)
    if causal and (mask is not None or L != S):
        visible = torch.ones(L, S, dtype=torch.bool).tril(S - L)
        mask = visible if mask is None else visible & mask
        causal = False
    if mask is not None:
        mask = torch.zeros(mask.shape, dtype=q.dtype).masked_fill(~mask, -1e9)
    return nn.functional.scaled_dot_product_attention(q, k, v, mask, dropout_p, causal)


@wrong(
    "fused_attention",
    "Your scores are divided by √d twice: the kernel does it already.",
)
def scaled_twice(q, k, v, mask=None, causal=False, dropout_p=0.0):
    L, S = q.shape[-2], k.shape[-2]
    if causal and S < L:
        raise ValueError(f"{L} queries, {S} keys")
    if mask is not None and mask.dim() == 3:
        mask = mask.unsqueeze(1)
    if causal and (mask is not None or L != S):
        visible = torch.ones(L, S, dtype=torch.bool).tril(S - L)
        mask = visible if mask is None else visible & mask
        causal = False
    return nn.functional.scaled_dot_product_attention(q / q.shape[-1] ** 0.5, k, v, mask, dropout_p, causal)


@wrong(
    "fused_attention",
    "The scores should be divided by the root of d, the width of a query. You scale by the number of keys.",
)
def scaled_by_the_number_of_keys(q, k, v, mask=None, causal=False, dropout_p=0.0):
    L, S = q.shape[-2], k.shape[-2]
    if causal and S < L:
        raise ValueError(f"{L} queries, {S} keys")
    if mask is not None and mask.dim() == 3:
        mask = mask.unsqueeze(1)
    if causal and (mask is not None or L != S):
        visible = torch.ones(L, S, dtype=torch.bool).tril(S - L)
        mask = visible if mask is None else visible & mask
        causal = False
    return nn.functional.scaled_dot_product_attention(q, k, v, mask, dropout_p, causal, scale=S**-0.5)


@wrong(
    "fused_attention",
    "Fewer keys than queries go through, and the first queries get 0. Causal attention has no meaning there: raise a ValueError.",
)
def fewer_keys_let_through(q, k, v, mask=None, causal=False, dropout_p=0.0):
    L, S = q.shape[-2], k.shape[-2]
    if mask is not None and mask.dim() == 3:
        mask = mask.unsqueeze(1)
    if causal and (mask is not None or L != S):
        visible = torch.ones(L, S, dtype=torch.bool).tril(S - L)
        mask = visible if mask is None else visible & mask
        causal = False
    return nn.functional.scaled_dot_product_attention(q, k, v, mask, dropout_p, causal)


@wrong(
    "fused_attention",
    "Your ValueError does not name the numbers of queries and keys: whoever reads it has to look for them.",
)
def sizes_not_named(q, k, v, mask=None, causal=False, dropout_p=0.0):
    L, S = q.shape[-2], k.shape[-2]
    if causal and S < L:
        raise ValueError("too few keys for causal attention")
    if mask is not None and mask.dim() == 3:
        mask = mask.unsqueeze(1)
    if causal and (mask is not None or L != S):
        visible = torch.ones(L, S, dtype=torch.bool).tril(S - L)
        mask = visible if mask is None else visible & mask
        causal = False
    return nn.functional.scaled_dot_product_attention(q, k, v, mask, dropout_p, causal)


@wrong(
    "fused_attention",
    "dropout_p has no effect: hand it on to the kernel.",
)
def dropout_forgotten(q, k, v, mask=None, causal=False, dropout_p=0.0):
    L, S = q.shape[-2], k.shape[-2]
    if causal and S < L:
        raise ValueError(f"{L} queries, {S} keys")
    if mask is not None and mask.dim() == 3:
        mask = mask.unsqueeze(1)
    if causal and (mask is not None or L != S):
        visible = torch.ones(L, S, dtype=torch.bool).tril(S - L)
        mask = visible if mask is None else visible & mask
        causal = False
    return nn.functional.scaled_dot_product_attention(q, k, v, mask, 0.0, causal)


@wrong(
    "fused_attention",
    "With as many queries as keys and no other mask you make a table of L·S places. is_causal serves there, and needs none.",
)
def mask_where_none_is_needed(q, k, v, mask=None, causal=False, dropout_p=0.0):
    L, S = q.shape[-2], k.shape[-2]
    if causal and S < L:
        raise ValueError(f"{L} queries, {S} keys")
    if mask is not None and mask.dim() == 3:
        mask = mask.unsqueeze(1)
    if causal:
        visible = torch.ones(L, S, dtype=torch.bool).tril(S - L)
        mask = visible if mask is None else visible & mask
        causal = False
    return nn.functional.scaled_dot_product_attention(q, k, v, mask, dropout_p, causal)


@right("fused_attention")
def fused_with_arange(q, k, v, mask=None, causal=False, dropout_p=0.0):
    L, S = q.shape[2], k.shape[2]
    if mask is not None and mask.ndim == 3:
        mask = mask[:, None, :, :]
    if not causal:
        return nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask, dropout_p=dropout_p)
    if L > S:
        raise ValueError(f"L = {L}, S = {S}")
    if L == S and mask is None:
        return nn.functional.scaled_dot_product_attention(q, k, v, dropout_p=dropout_p, is_causal=True)
    visible = torch.arange(S) <= torch.arange(L)[:, None] + (S - L)
    if mask is not None:
        visible = visible & mask
    return nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=visible, dropout_p=dropout_p)


@right("fused_attention")
def fused_with_a_plan(q, k, v, mask=None, causal=False, dropout_p=0.0):
    L, S = q.shape[-2:][0], k.shape[-2:][0]
    options = {"dropout_p": dropout_p}
    if causal and S < L:
        raise ValueError(f"causal attention of {L} queries over {S} keys")
    if mask is not None:
        mask = mask[:, None] if mask.dim() == 3 else mask
        options["attn_mask"] = mask & torch.ones(L, S).tril(S - L).bool() if causal else mask
    elif causal and L == S:
        options["is_causal"] = True
    elif causal and L > 1:
        options["attn_mask"] = torch.ones(L, S).tril(S - L).bool()
    return nn.functional.scaled_dot_product_attention(q, k, v, **options)


@right("fused_attention")
def fused_with_a_half_open_mask(q, k, v, mask=None, causal=False, dropout_p=0.0):
    from torch.nn.functional import scaled_dot_product_attention as attend

    L, S = q.size(-2), k.size(-2)
    if causal and S < L:
        raise ValueError(f"there are {L} queries and only {S} keys")
    if mask is not None and mask.dim() == 3:
        mask = mask.reshape(mask.shape[0], 1, *mask.shape[1:])
    if causal and mask is None and L == S:
        return attend(q, k, v, is_causal=True, dropout_p=dropout_p)
    if causal:
        later = torch.ones(L, S, dtype=torch.bool).triu(S - L + 1)
        mask = ~later if mask is None else mask & ~later
    return attend(q, k, v, mask, dropout_p=dropout_p)


# ---------------------------------------------------------------------------------------------
# cached_decode. Sources of different lengths, rows that end at different steps, a model that says 0, a model in
# training, no room for a token; and one call that looks at the work alone.
_WHOLE = {"source_vocab": 9, "target_vocab": 9, "d_model": 8, "n_heads": 2, "d_ff": 6, "n_layers": 2}
_SENTENCES = torch.tensor([[3, 8, 1, 4, 7], [2, 5, 6, 0, 0], [4, 4, 0, 0, 0], [6, 1, 2, 8, 0]])  # (N, S) = (4, 5)
_ONCE = {"encoder.0.self_attention.q_proj.weight": 4 * 5}
_ONCE |= {"decoder.1.self_attention.k_proj.weight": 4 * 6, "decoder.1.cross_attention.k_proj.weight": 4 * 5}

_SAYS_ZERO = Built("Seq2SeqTransformer", _WHOLE, seed=17, scale=3.0)  # 4 5 5 0 4 5 0 …, in two of the rows

probe("cached_decode", _SAYS_ZERO, _SENTENCES, 1, 5, 7)
probe("cached_decode", _SAYS_ZERO, _SENTENCES, 1, 1, 9)  # bos and eos are the same token
probe("cached_decode", Built("Seq2SeqTransformer", _WHOLE, seed=16, scale=5.0), _SENTENCES, 1, 8, 6)
probe("cached_decode", Built("Seq2SeqTransformer", _WHOLE | {"dropout": 0.5}, True, 17, 3.0), _SENTENCES, 1, 1, 9)
probe("cached_decode", _SAYS_ZERO, _SENTENCES[:2], 1, 2, 0)
probe("cached_decode", _SAYS_ZERO, _SENTENCES, 1, 99, 6, most=_ONCE)


@wrong(
    "cached_decode",
    "The tokens are right, and nothing is kept: at each step all earlier tokens go through the decoder once more.",
)
def without_any_cache(model, source, bos, eos, max_len):
    was_training = model.training
    model.eval()
    said = []
    with torch.no_grad():
        for row in source:
            words = row[row != 0][None] if bool(row.any()) else row[None]
            memory, tokens = model.encode(words), [bos]
            while len(tokens) <= max_len:
                token = int(model.decode(torch.tensor([tokens]), memory, words)[0, -1].argmax())
                if token == eos:
                    break
                tokens.append(token)
            said.append(tokens[1:])
    model.train(was_training)
    return said


@wrong(
    "cached_decode",
    "The encoder reads the source anew at each step. It does not change: once is enough.",
)
def source_encoded_at_each_step(model, source, bos, eos, max_len):
    def split(attention, x):
        return x.unflatten(-1, (attention.n_heads, -1)).transpose(1, 2)

    def keys_and_values(attention, x):
        return split(attention, attention.k_proj(x)), split(attention, attention.v_proj(x))

    def attend(attention, query, k, v, mask):
        q = split(attention, attention.q_proj(query))
        heads = nn.functional.scaled_dot_product_attention(q, k, v, mask)
        return attention.out_proj(heads.transpose(1, 2).flatten(2))

    was_training = model.training
    model.eval()
    N = len(source)
    with torch.no_grad():
        memory, real = model.encode(source), (source != 0)[:, None, None, :]
        places = sinusoidal_positions(max_len + 1, memory.shape[-1])
        crosses = [keys_and_values(layer.cross_attention, memory) for layer in model.decoder]
        caches = [None for layer in model.decoder]
        last, seen = torch.full((N,), bos), torch.zeros(N, 0, dtype=torch.bool)
        said, ended = [[] for _ in range(N)], [False] * N
        for step in range(max_len):
            seen = torch.cat([seen, (last != 0)[:, None]], dim=1)
            memory = model.encode(source)
            y = model.target_embedding(last)[:, None] * memory.shape[-1] ** 0.5 + places[step]
            for i, layer in enumerate(model.decoder):
                n = layer.norm1(y)
                k, v = keys_and_values(layer.self_attention, n)
                if caches[i] is not None:
                    k, v = torch.cat([caches[i][0], k], dim=2), torch.cat([caches[i][1], v], dim=2)
                caches[i] = k, v
                y = y + attend(layer.self_attention, n, k, v, seen[:, None, None, :])
                y = y + attend(layer.cross_attention, layer.norm2(y), *crosses[i], real)
                y = y + layer.feed_forward(layer.norm3(y))
            last = model.output(model.decoder_norm(y))[:, 0].argmax(dim=-1)
            for row, token in enumerate(last.tolist()):
                ended[row] = ended[row] or token == eos
                if not ended[row]:
                    said[row].append(token)
            if all(ended):
                break
    model.train(was_training)
    return said


@wrong(
    "cached_decode",
    "The memory's keys and values are projected anew at each step. They do not change either: keep them, too.",
)
def memory_projected_at_each_step(model, source, bos, eos, max_len):
    def split(attention, x):
        return x.unflatten(-1, (attention.n_heads, -1)).transpose(1, 2)

    def keys_and_values(attention, x):
        return split(attention, attention.k_proj(x)), split(attention, attention.v_proj(x))

    def attend(attention, query, k, v, mask):
        q = split(attention, attention.q_proj(query))
        heads = nn.functional.scaled_dot_product_attention(q, k, v, mask)
        return attention.out_proj(heads.transpose(1, 2).flatten(2))

    was_training = model.training
    model.eval()
    N = len(source)
    with torch.no_grad():
        memory, real = model.encode(source), (source != 0)[:, None, None, :]
        places = sinusoidal_positions(max_len + 1, memory.shape[-1])
        caches = [None for layer in model.decoder]
        last, seen = torch.full((N,), bos), torch.zeros(N, 0, dtype=torch.bool)
        said, ended = [[] for _ in range(N)], [False] * N
        for step in range(max_len):
            seen = torch.cat([seen, (last != 0)[:, None]], dim=1)
            y = model.target_embedding(last)[:, None] * memory.shape[-1] ** 0.5 + places[step]
            for i, layer in enumerate(model.decoder):
                n = layer.norm1(y)
                k, v = keys_and_values(layer.self_attention, n)
                if caches[i] is not None:
                    k, v = torch.cat([caches[i][0], k], dim=2), torch.cat([caches[i][1], v], dim=2)
                caches[i] = k, v
                y = y + attend(layer.self_attention, n, k, v, seen[:, None, None, :])
                y = y + attend(
                    layer.cross_attention, layer.norm2(y), *keys_and_values(layer.cross_attention, memory), real
                )
                y = y + layer.feed_forward(layer.norm3(y))
            last = model.output(model.decoder_norm(y))[:, 0].argmax(dim=-1)
            for row, token in enumerate(last.tolist()):
                ended[row] = ended[row] or token == eos
                if not ended[row]:
                    said[row].append(token)
            if all(ended):
                break
    model.train(was_training)
    return said


@wrong(
    "cached_decode",
    "Each new token is told that it stands at the beginning: a step's positions are those of its own place.",
)
def every_token_at_place_zero(model, source, bos, eos, max_len):
    def split(attention, x):
        return x.unflatten(-1, (attention.n_heads, -1)).transpose(1, 2)

    def keys_and_values(attention, x):
        return split(attention, attention.k_proj(x)), split(attention, attention.v_proj(x))

    def attend(attention, query, k, v, mask):
        q = split(attention, attention.q_proj(query))
        heads = nn.functional.scaled_dot_product_attention(q, k, v, mask)
        return attention.out_proj(heads.transpose(1, 2).flatten(2))

    was_training = model.training
    model.eval()
    N = len(source)
    with torch.no_grad():
        memory, real = model.encode(source), (source != 0)[:, None, None, :]
        places = sinusoidal_positions(max_len + 1, memory.shape[-1])
        crosses = [keys_and_values(layer.cross_attention, memory) for layer in model.decoder]
        caches = [None for layer in model.decoder]
        last, seen = torch.full((N,), bos), torch.zeros(N, 0, dtype=torch.bool)
        said, ended = [[] for _ in range(N)], [False] * N
        for _ in range(max_len):
            seen = torch.cat([seen, (last != 0)[:, None]], dim=1)
            y = model.target_embedding(last)[:, None] * memory.shape[-1] ** 0.5 + places[0]
            for i, layer in enumerate(model.decoder):
                n = layer.norm1(y)
                k, v = keys_and_values(layer.self_attention, n)
                if caches[i] is not None:
                    k, v = torch.cat([caches[i][0], k], dim=2), torch.cat([caches[i][1], v], dim=2)
                caches[i] = k, v
                y = y + attend(layer.self_attention, n, k, v, seen[:, None, None, :])
                y = y + attend(layer.cross_attention, layer.norm2(y), *crosses[i], real)
                y = y + layer.feed_forward(layer.norm3(y))
            last = model.output(model.decoder_norm(y))[:, 0].argmax(dim=-1)
            for row, token in enumerate(last.tolist()):
                ended[row] = ended[row] or token == eos
                if not ended[row]:
                    said[row].append(token)
            if all(ended):
                break
    model.train(was_training)
    return said


@wrong(
    "cached_decode",
    "Your places are off by one: bos stands at place 0.",
)
def places_off_by_one(model, source, bos, eos, max_len):
    def split(attention, x):
        return x.unflatten(-1, (attention.n_heads, -1)).transpose(1, 2)

    def keys_and_values(attention, x):
        return split(attention, attention.k_proj(x)), split(attention, attention.v_proj(x))

    def attend(attention, query, k, v, mask):
        q = split(attention, attention.q_proj(query))
        heads = nn.functional.scaled_dot_product_attention(q, k, v, mask)
        return attention.out_proj(heads.transpose(1, 2).flatten(2))

    was_training = model.training
    model.eval()
    N = len(source)
    with torch.no_grad():
        memory, real = model.encode(source), (source != 0)[:, None, None, :]
        places = sinusoidal_positions(max_len + 1, memory.shape[-1])
        crosses = [keys_and_values(layer.cross_attention, memory) for layer in model.decoder]
        caches = [None for layer in model.decoder]
        last, seen = torch.full((N,), bos), torch.zeros(N, 0, dtype=torch.bool)
        said, ended = [[] for _ in range(N)], [False] * N
        for step in range(max_len):
            seen = torch.cat([seen, (last != 0)[:, None]], dim=1)
            y = model.target_embedding(last)[:, None] * memory.shape[-1] ** 0.5 + places[step + 1]
            for i, layer in enumerate(model.decoder):
                n = layer.norm1(y)
                k, v = keys_and_values(layer.self_attention, n)
                if caches[i] is not None:
                    k, v = torch.cat([caches[i][0], k], dim=2), torch.cat([caches[i][1], v], dim=2)
                caches[i] = k, v
                y = y + attend(layer.self_attention, n, k, v, seen[:, None, None, :])
                y = y + attend(layer.cross_attention, layer.norm2(y), *crosses[i], real)
                y = y + layer.feed_forward(layer.norm3(y))
            last = model.output(model.decoder_norm(y))[:, 0].argmax(dim=-1)
            for row, token in enumerate(last.tolist()):
                ended[row] = ended[row] or token == eos
                if not ended[row]:
                    said[row].append(token)
            if all(ended):
                break
    model.train(was_training)
    return said


@wrong(
    "cached_decode",
    "Your cache is one step late: a token should see itself, so its keys and values join the cache before it attends.",
)
def new_token_not_in_the_cache(model, source, bos, eos, max_len):
    def split(attention, x):
        return x.unflatten(-1, (attention.n_heads, -1)).transpose(1, 2)

    def keys_and_values(attention, x):
        return split(attention, attention.k_proj(x)), split(attention, attention.v_proj(x))

    def attend(attention, query, k, v, mask):
        q = split(attention, attention.q_proj(query))
        heads = nn.functional.scaled_dot_product_attention(q, k, v, mask)
        return attention.out_proj(heads.transpose(1, 2).flatten(2))

    was_training = model.training
    model.eval()
    N = len(source)
    with torch.no_grad():
        memory, real = model.encode(source), (source != 0)[:, None, None, :]
        places = sinusoidal_positions(max_len + 1, memory.shape[-1])
        crosses = [keys_and_values(layer.cross_attention, memory) for layer in model.decoder]
        caches = [None for layer in model.decoder]
        last, seen = torch.full((N,), bos), torch.zeros(N, 0, dtype=torch.bool)
        said, ended = [[] for _ in range(N)], [False] * N
        for step in range(max_len):
            seen = torch.cat([seen, (last != 0)[:, None]], dim=1)
            y = model.target_embedding(last)[:, None] * memory.shape[-1] ** 0.5 + places[step]
            for i, layer in enumerate(model.decoder):
                n = layer.norm1(y)
                k, v = keys_and_values(layer.self_attention, n)
                before = caches[i] or (k, v)
                k, v = torch.cat([before[0], k], dim=2), torch.cat([before[1], v], dim=2)
                caches[i] = (k, v) if step else before
                y = y + attend(layer.self_attention, n, *before, seen[:, None, None, : before[0].shape[2]])
                y = y + attend(layer.cross_attention, layer.norm2(y), *crosses[i], real)
                y = y + layer.feed_forward(layer.norm3(y))
            last = model.output(model.decoder_norm(y))[:, 0].argmax(dim=-1)
            for row, token in enumerate(last.tolist()):
                ended[row] = ended[row] or token == eos
                if not ended[row]:
                    said[row].append(token)
            if all(ended):
                break
    model.train(was_training)
    return said


@wrong(
    "cached_decode",
    "Nothing stays in your cache: each token sees itself alone.",
)
def nothing_remembered(model, source, bos, eos, max_len):
    def split(attention, x):
        return x.unflatten(-1, (attention.n_heads, -1)).transpose(1, 2)

    def keys_and_values(attention, x):
        return split(attention, attention.k_proj(x)), split(attention, attention.v_proj(x))

    def attend(attention, query, k, v, mask):
        q = split(attention, attention.q_proj(query))
        heads = nn.functional.scaled_dot_product_attention(q, k, v, mask)
        return attention.out_proj(heads.transpose(1, 2).flatten(2))

    was_training = model.training
    model.eval()
    N = len(source)
    with torch.no_grad():
        memory, real = model.encode(source), (source != 0)[:, None, None, :]
        places = sinusoidal_positions(max_len + 1, memory.shape[-1])
        crosses = [keys_and_values(layer.cross_attention, memory) for layer in model.decoder]
        caches = [None for layer in model.decoder]
        last, seen = torch.full((N,), bos), torch.zeros(N, 0, dtype=torch.bool)
        said, ended = [[] for _ in range(N)], [False] * N
        for step in range(max_len):
            seen = torch.cat([seen, (last != 0)[:, None]], dim=1)
            y = model.target_embedding(last)[:, None] * memory.shape[-1] ** 0.5 + places[step]
            for i, layer in enumerate(model.decoder):
                n = layer.norm1(y)
                k, v = keys_and_values(layer.self_attention, n)
                if caches[i] is not None:
                    k, v = torch.cat([caches[i][0], k], dim=2), torch.cat([caches[i][1], v], dim=2)
                y = y + attend(layer.self_attention, n, k, v, seen[:, None, None, -1:])
                y = y + attend(layer.cross_attention, layer.norm2(y), *crosses[i], real)
                y = y + layer.feed_forward(layer.norm3(y))
            last = model.output(model.decoder_norm(y))[:, 0].argmax(dim=-1)
            for row, token in enumerate(last.tolist()):
                ended[row] = ended[row] or token == eos
                if not ended[row]:
                    said[row].append(token)
            if all(ended):
                break
    model.train(was_training)
    return said


@wrong(
    "cached_decode",
    "Your one query is taken for the first of a sequence: is_causal lets it see the oldest key alone, and it should see them all.",
)
def cached_query_seen_as_the_first(model, source, bos, eos, max_len):
    def split(attention, x):
        return x.unflatten(-1, (attention.n_heads, -1)).transpose(1, 2)

    def keys_and_values(attention, x):
        return split(attention, attention.k_proj(x)), split(attention, attention.v_proj(x))

    def attend(attention, query, k, v, mask):
        q = split(attention, attention.q_proj(query))
        heads = nn.functional.scaled_dot_product_attention(q, k, v, mask)
        return attention.out_proj(heads.transpose(1, 2).flatten(2))

    was_training = model.training
    model.eval()
    N = len(source)
    with torch.no_grad():
        memory, real = model.encode(source), (source != 0)[:, None, None, :]
        places = sinusoidal_positions(max_len + 1, memory.shape[-1])
        crosses = [keys_and_values(layer.cross_attention, memory) for layer in model.decoder]
        caches = [None for layer in model.decoder]
        last, seen = torch.full((N,), bos), torch.zeros(N, 0, dtype=torch.bool)
        said, ended = [[] for _ in range(N)], [False] * N
        for step in range(max_len):
            seen = torch.cat([seen, (last != 0)[:, None]], dim=1)
            y = model.target_embedding(last)[:, None] * memory.shape[-1] ** 0.5 + places[step]
            for i, layer in enumerate(model.decoder):
                n = layer.norm1(y)
                k, v = keys_and_values(layer.self_attention, n)
                if caches[i] is not None:
                    k, v = torch.cat([caches[i][0], k], dim=2), torch.cat([caches[i][1], v], dim=2)
                caches[i] = k, v
                y = y + attend(layer.self_attention, n, k, v, seen[:, None, None, :].tril())
                y = y + attend(layer.cross_attention, layer.norm2(y), *crosses[i], real)
                y = y + layer.feed_forward(layer.norm3(y))
            last = model.output(model.decoder_norm(y))[:, 0].argmax(dim=-1)
            for row, token in enumerate(last.tolist()):
                ended[row] = ended[row] or token == eos
                if not ended[row]:
                    said[row].append(token)
            if all(ended):
                break
    model.train(was_training)
    return said


@wrong(
    "cached_decode",
    "Shorter sources come out otherwise than alone: their padding is seen in the attention to the memory.",
)
def padding_of_the_source_seen(model, source, bos, eos, max_len):
    def split(attention, x):
        return x.unflatten(-1, (attention.n_heads, -1)).transpose(1, 2)

    def keys_and_values(attention, x):
        return split(attention, attention.k_proj(x)), split(attention, attention.v_proj(x))

    def attend(attention, query, k, v, mask):
        q = split(attention, attention.q_proj(query))
        heads = nn.functional.scaled_dot_product_attention(q, k, v, mask)
        return attention.out_proj(heads.transpose(1, 2).flatten(2))

    was_training = model.training
    model.eval()
    N = len(source)
    with torch.no_grad():
        memory = model.encode(source)
        places = sinusoidal_positions(max_len + 1, memory.shape[-1])
        crosses = [keys_and_values(layer.cross_attention, memory) for layer in model.decoder]
        caches = [None for layer in model.decoder]
        last, seen = torch.full((N,), bos), torch.zeros(N, 0, dtype=torch.bool)
        said, ended = [[] for _ in range(N)], [False] * N
        for step in range(max_len):
            seen = torch.cat([seen, (last != 0)[:, None]], dim=1)
            y = model.target_embedding(last)[:, None] * memory.shape[-1] ** 0.5 + places[step]
            for i, layer in enumerate(model.decoder):
                n = layer.norm1(y)
                k, v = keys_and_values(layer.self_attention, n)
                if caches[i] is not None:
                    k, v = torch.cat([caches[i][0], k], dim=2), torch.cat([caches[i][1], v], dim=2)
                caches[i] = k, v
                y = y + attend(layer.self_attention, n, k, v, seen[:, None, None, :])
                y = y + attend(layer.cross_attention, layer.norm2(y), *crosses[i], None)
                y = y + layer.feed_forward(layer.norm3(y))
            last = model.output(model.decoder_norm(y))[:, 0].argmax(dim=-1)
            for row, token in enumerate(last.tolist()):
                ended[row] = ended[row] or token == eos
                if not ended[row]:
                    said[row].append(token)
            if all(ended):
                break
    model.train(was_training)
    return said


@wrong(
    "cached_decode",
    "When the model says 0, the tokens behind it should not see it: padding is masked wherever it stands.",
)
def padding_that_was_said_seen(model, source, bos, eos, max_len):
    def split(attention, x):
        return x.unflatten(-1, (attention.n_heads, -1)).transpose(1, 2)

    def keys_and_values(attention, x):
        return split(attention, attention.k_proj(x)), split(attention, attention.v_proj(x))

    def attend(attention, query, k, v, mask):
        q = split(attention, attention.q_proj(query))
        heads = nn.functional.scaled_dot_product_attention(q, k, v, mask)
        return attention.out_proj(heads.transpose(1, 2).flatten(2))

    was_training = model.training
    model.eval()
    N = len(source)
    with torch.no_grad():
        memory, real = model.encode(source), (source != 0)[:, None, None, :]
        places = sinusoidal_positions(max_len + 1, memory.shape[-1])
        crosses = [keys_and_values(layer.cross_attention, memory) for layer in model.decoder]
        caches = [None for layer in model.decoder]
        last, seen = torch.full((N,), bos), torch.zeros(N, 0, dtype=torch.bool)
        said, ended = [[] for _ in range(N)], [False] * N
        for step in range(max_len):
            seen = torch.cat([seen, (last > -1)[:, None]], dim=1)
            y = model.target_embedding(last)[:, None] * memory.shape[-1] ** 0.5 + places[step]
            for i, layer in enumerate(model.decoder):
                n = layer.norm1(y)
                k, v = keys_and_values(layer.self_attention, n)
                if caches[i] is not None:
                    k, v = torch.cat([caches[i][0], k], dim=2), torch.cat([caches[i][1], v], dim=2)
                caches[i] = k, v
                y = y + attend(layer.self_attention, n, k, v, seen[:, None, None, :])
                y = y + attend(layer.cross_attention, layer.norm2(y), *crosses[i], real)
                y = y + layer.feed_forward(layer.norm3(y))
            last = model.output(model.decoder_norm(y))[:, 0].argmax(dim=-1)
            for row, token in enumerate(last.tolist()):
                ended[row] = ended[row] or token == eos
                if not ended[row]:
                    said[row].append(token)
            if all(ended):
                break
    model.train(was_training)
    return said


@wrong(
    "cached_decode",
    "As soon as one row ends, all of them do. Each row ends by itself.",
)
def all_end_with_the_first(model, source, bos, eos, max_len):
    def split(attention, x):
        return x.unflatten(-1, (attention.n_heads, -1)).transpose(1, 2)

    def keys_and_values(attention, x):
        return split(attention, attention.k_proj(x)), split(attention, attention.v_proj(x))

    def attend(attention, query, k, v, mask):
        q = split(attention, attention.q_proj(query))
        heads = nn.functional.scaled_dot_product_attention(q, k, v, mask)
        return attention.out_proj(heads.transpose(1, 2).flatten(2))

    was_training = model.training
    model.eval()
    N = len(source)
    with torch.no_grad():
        memory, real = model.encode(source), (source != 0)[:, None, None, :]
        places = sinusoidal_positions(max_len + 1, memory.shape[-1])
        crosses = [keys_and_values(layer.cross_attention, memory) for layer in model.decoder]
        caches = [None for layer in model.decoder]
        last, seen = torch.full((N,), bos), torch.zeros(N, 0, dtype=torch.bool)
        said, ended = [[] for _ in range(N)], [False] * N
        for step in range(max_len):
            seen = torch.cat([seen, (last != 0)[:, None]], dim=1)
            y = model.target_embedding(last)[:, None] * memory.shape[-1] ** 0.5 + places[step]
            for i, layer in enumerate(model.decoder):
                n = layer.norm1(y)
                k, v = keys_and_values(layer.self_attention, n)
                if caches[i] is not None:
                    k, v = torch.cat([caches[i][0], k], dim=2), torch.cat([caches[i][1], v], dim=2)
                caches[i] = k, v
                y = y + attend(layer.self_attention, n, k, v, seen[:, None, None, :])
                y = y + attend(layer.cross_attention, layer.norm2(y), *crosses[i], real)
                y = y + layer.feed_forward(layer.norm3(y))
            last = model.output(model.decoder_norm(y))[:, 0].argmax(dim=-1)
            for row, token in enumerate(last.tolist()):
                ended[row] = ended[row] or token == eos
                if not ended[row]:
                    said[row].append(token)
            if any(ended):
                break
    model.train(was_training)
    return said


@wrong(
    "cached_decode",
    "A row goes on after its end: what a model says behind eos belongs to nobody.",
)
def rows_go_on_after_their_end(model, source, bos, eos, max_len):
    def split(attention, x):
        return x.unflatten(-1, (attention.n_heads, -1)).transpose(1, 2)

    def keys_and_values(attention, x):
        return split(attention, attention.k_proj(x)), split(attention, attention.v_proj(x))

    def attend(attention, query, k, v, mask):
        q = split(attention, attention.q_proj(query))
        heads = nn.functional.scaled_dot_product_attention(q, k, v, mask)
        return attention.out_proj(heads.transpose(1, 2).flatten(2))

    was_training = model.training
    model.eval()
    N = len(source)
    with torch.no_grad():
        memory, real = model.encode(source), (source != 0)[:, None, None, :]
        places = sinusoidal_positions(max_len + 1, memory.shape[-1])
        crosses = [keys_and_values(layer.cross_attention, memory) for layer in model.decoder]
        caches = [None for layer in model.decoder]
        last, seen = torch.full((N,), bos), torch.zeros(N, 0, dtype=torch.bool)
        said, ended = [[] for _ in range(N)], [False] * N
        for step in range(max_len):
            seen = torch.cat([seen, (last != 0)[:, None]], dim=1)
            y = model.target_embedding(last)[:, None] * memory.shape[-1] ** 0.5 + places[step]
            for i, layer in enumerate(model.decoder):
                n = layer.norm1(y)
                k, v = keys_and_values(layer.self_attention, n)
                if caches[i] is not None:
                    k, v = torch.cat([caches[i][0], k], dim=2), torch.cat([caches[i][1], v], dim=2)
                caches[i] = k, v
                y = y + attend(layer.self_attention, n, k, v, seen[:, None, None, :])
                y = y + attend(layer.cross_attention, layer.norm2(y), *crosses[i], real)
                y = y + layer.feed_forward(layer.norm3(y))
            last = model.output(model.decoder_norm(y))[:, 0].argmax(dim=-1)
            for row, token in enumerate(last.tolist()):
                ended[row] = token == eos
                if not ended[row]:
                    said[row].append(token)
            if all(ended):
                break
    model.train(was_training)
    return said


@wrong(
    "cached_decode",
    "eos stands in your lists: it ends a row and is no part of it.",
)
def end_in_the_lists(model, source, bos, eos, max_len):
    def split(attention, x):
        return x.unflatten(-1, (attention.n_heads, -1)).transpose(1, 2)

    def keys_and_values(attention, x):
        return split(attention, attention.k_proj(x)), split(attention, attention.v_proj(x))

    def attend(attention, query, k, v, mask):
        q = split(attention, attention.q_proj(query))
        heads = nn.functional.scaled_dot_product_attention(q, k, v, mask)
        return attention.out_proj(heads.transpose(1, 2).flatten(2))

    was_training = model.training
    model.eval()
    N = len(source)
    with torch.no_grad():
        memory, real = model.encode(source), (source != 0)[:, None, None, :]
        places = sinusoidal_positions(max_len + 1, memory.shape[-1])
        crosses = [keys_and_values(layer.cross_attention, memory) for layer in model.decoder]
        caches = [None for layer in model.decoder]
        last, seen = torch.full((N,), bos), torch.zeros(N, 0, dtype=torch.bool)
        said, ended = [[] for _ in range(N)], [False] * N
        for step in range(max_len):
            seen = torch.cat([seen, (last != 0)[:, None]], dim=1)
            y = model.target_embedding(last)[:, None] * memory.shape[-1] ** 0.5 + places[step]
            for i, layer in enumerate(model.decoder):
                n = layer.norm1(y)
                k, v = keys_and_values(layer.self_attention, n)
                if caches[i] is not None:
                    k, v = torch.cat([caches[i][0], k], dim=2), torch.cat([caches[i][1], v], dim=2)
                caches[i] = k, v
                y = y + attend(layer.self_attention, n, k, v, seen[:, None, None, :])
                y = y + attend(layer.cross_attention, layer.norm2(y), *crosses[i], real)
                y = y + layer.feed_forward(layer.norm3(y))
            last = model.output(model.decoder_norm(y))[:, 0].argmax(dim=-1)
            for row, token in enumerate(last.tolist()):
                if not ended[row]:
                    said[row].append(token)
                ended[row] = ended[row] or token == eos
            if all(ended):
                break
    model.train(was_training)
    return said


@wrong(
    "cached_decode",
    "bos stands in your lists: it was given, and not said.",
)
def begin_in_the_lists(model, source, bos, eos, max_len):
    def split(attention, x):
        return x.unflatten(-1, (attention.n_heads, -1)).transpose(1, 2)

    def keys_and_values(attention, x):
        return split(attention, attention.k_proj(x)), split(attention, attention.v_proj(x))

    def attend(attention, query, k, v, mask):
        q = split(attention, attention.q_proj(query))
        heads = nn.functional.scaled_dot_product_attention(q, k, v, mask)
        return attention.out_proj(heads.transpose(1, 2).flatten(2))

    was_training = model.training
    model.eval()
    N = len(source)
    with torch.no_grad():
        memory, real = model.encode(source), (source != 0)[:, None, None, :]
        places = sinusoidal_positions(max_len + 1, memory.shape[-1])
        crosses = [keys_and_values(layer.cross_attention, memory) for layer in model.decoder]
        caches = [None for layer in model.decoder]
        last, seen = torch.full((N,), bos), torch.zeros(N, 0, dtype=torch.bool)
        said, ended = [[bos] for _ in range(N)], [False] * N
        for step in range(max_len):
            seen = torch.cat([seen, (last != 0)[:, None]], dim=1)
            y = model.target_embedding(last)[:, None] * memory.shape[-1] ** 0.5 + places[step]
            for i, layer in enumerate(model.decoder):
                n = layer.norm1(y)
                k, v = keys_and_values(layer.self_attention, n)
                if caches[i] is not None:
                    k, v = torch.cat([caches[i][0], k], dim=2), torch.cat([caches[i][1], v], dim=2)
                caches[i] = k, v
                y = y + attend(layer.self_attention, n, k, v, seen[:, None, None, :])
                y = y + attend(layer.cross_attention, layer.norm2(y), *crosses[i], real)
                y = y + layer.feed_forward(layer.norm3(y))
            last = model.output(model.decoder_norm(y))[:, 0].argmax(dim=-1)
            for row, token in enumerate(last.tolist()):
                ended[row] = ended[row] or token == eos
                if not ended[row]:
                    said[row].append(token)
            if all(ended):
                break
    model.train(was_training)
    return said


@wrong(
    "cached_decode",
    "A row may have max_len tokens, and yours get one more.",
)
def one_token_too_many(model, source, bos, eos, max_len):
    def split(attention, x):
        return x.unflatten(-1, (attention.n_heads, -1)).transpose(1, 2)

    def keys_and_values(attention, x):
        return split(attention, attention.k_proj(x)), split(attention, attention.v_proj(x))

    def attend(attention, query, k, v, mask):
        q = split(attention, attention.q_proj(query))
        heads = nn.functional.scaled_dot_product_attention(q, k, v, mask)
        return attention.out_proj(heads.transpose(1, 2).flatten(2))

    was_training = model.training
    model.eval()
    N = len(source)
    with torch.no_grad():
        memory, real = model.encode(source), (source != 0)[:, None, None, :]
        places = sinusoidal_positions(max_len + 1, memory.shape[-1])
        crosses = [keys_and_values(layer.cross_attention, memory) for layer in model.decoder]
        caches = [None for layer in model.decoder]
        last, seen = torch.full((N,), bos), torch.zeros(N, 0, dtype=torch.bool)
        said, ended = [[] for _ in range(N)], [False] * N
        for step in range(max_len + 1):
            seen = torch.cat([seen, (last != 0)[:, None]], dim=1)
            y = model.target_embedding(last)[:, None] * memory.shape[-1] ** 0.5 + places[step]
            for i, layer in enumerate(model.decoder):
                n = layer.norm1(y)
                k, v = keys_and_values(layer.self_attention, n)
                if caches[i] is not None:
                    k, v = torch.cat([caches[i][0], k], dim=2), torch.cat([caches[i][1], v], dim=2)
                caches[i] = k, v
                y = y + attend(layer.self_attention, n, k, v, seen[:, None, None, :])
                y = y + attend(layer.cross_attention, layer.norm2(y), *crosses[i], real)
                y = y + layer.feed_forward(layer.norm3(y))
            last = model.output(model.decoder_norm(y))[:, 0].argmax(dim=-1)
            for row, token in enumerate(last.tolist()):
                ended[row] = ended[row] or token == eos
                if not ended[row]:
                    said[row].append(token)
            if all(ended):
                break
    model.train(was_training)
    return said


@wrong(
    "cached_decode",
    "The new token's embedding is not scaled as the model scales it in decode.",
)
def embedding_as_it_is(model, source, bos, eos, max_len):
    def split(attention, x):
        return x.unflatten(-1, (attention.n_heads, -1)).transpose(1, 2)

    def keys_and_values(attention, x):
        return split(attention, attention.k_proj(x)), split(attention, attention.v_proj(x))

    def attend(attention, query, k, v, mask):
        q = split(attention, attention.q_proj(query))
        heads = nn.functional.scaled_dot_product_attention(q, k, v, mask)
        return attention.out_proj(heads.transpose(1, 2).flatten(2))

    was_training = model.training
    model.eval()
    N = len(source)
    with torch.no_grad():
        memory, real = model.encode(source), (source != 0)[:, None, None, :]
        places = sinusoidal_positions(max_len + 1, memory.shape[-1])
        crosses = [keys_and_values(layer.cross_attention, memory) for layer in model.decoder]
        caches = [None for layer in model.decoder]
        last, seen = torch.full((N,), bos), torch.zeros(N, 0, dtype=torch.bool)
        said, ended = [[] for _ in range(N)], [False] * N
        for step in range(max_len):
            seen = torch.cat([seen, (last != 0)[:, None]], dim=1)
            y = model.target_embedding(last)[:, None] + places[step]
            for i, layer in enumerate(model.decoder):
                n = layer.norm1(y)
                k, v = keys_and_values(layer.self_attention, n)
                if caches[i] is not None:
                    k, v = torch.cat([caches[i][0], k], dim=2), torch.cat([caches[i][1], v], dim=2)
                caches[i] = k, v
                y = y + attend(layer.self_attention, n, k, v, seen[:, None, None, :])
                y = y + attend(layer.cross_attention, layer.norm2(y), *crosses[i], real)
                y = y + layer.feed_forward(layer.norm3(y))
            last = model.output(model.decoder_norm(y))[:, 0].argmax(dim=-1)
            for row, token in enumerate(last.tolist()):
                ended[row] = ended[row] or token == eos
                if not ended[row]:
                    said[row].append(token)
            if all(ended):
                break
    model.train(was_training)
    return said


@wrong(
    "cached_decode",
    "Your queries are normalised, your keys and values are not. In the layer all three come from norm1.",
)
def keys_not_normalised(model, source, bos, eos, max_len):
    def split(attention, x):
        return x.unflatten(-1, (attention.n_heads, -1)).transpose(1, 2)

    def keys_and_values(attention, x):
        return split(attention, attention.k_proj(x)), split(attention, attention.v_proj(x))

    def attend(attention, query, k, v, mask):
        q = split(attention, attention.q_proj(query))
        heads = nn.functional.scaled_dot_product_attention(q, k, v, mask)
        return attention.out_proj(heads.transpose(1, 2).flatten(2))

    was_training = model.training
    model.eval()
    N = len(source)
    with torch.no_grad():
        memory, real = model.encode(source), (source != 0)[:, None, None, :]
        places = sinusoidal_positions(max_len + 1, memory.shape[-1])
        crosses = [keys_and_values(layer.cross_attention, memory) for layer in model.decoder]
        caches = [None for layer in model.decoder]
        last, seen = torch.full((N,), bos), torch.zeros(N, 0, dtype=torch.bool)
        said, ended = [[] for _ in range(N)], [False] * N
        for step in range(max_len):
            seen = torch.cat([seen, (last != 0)[:, None]], dim=1)
            y = model.target_embedding(last)[:, None] * memory.shape[-1] ** 0.5 + places[step]
            for i, layer in enumerate(model.decoder):
                n = layer.norm1(y)
                k, v = keys_and_values(layer.self_attention, y)
                if caches[i] is not None:
                    k, v = torch.cat([caches[i][0], k], dim=2), torch.cat([caches[i][1], v], dim=2)
                caches[i] = k, v
                y = y + attend(layer.self_attention, n, k, v, seen[:, None, None, :])
                y = y + attend(layer.cross_attention, layer.norm2(y), *crosses[i], real)
                y = y + layer.feed_forward(layer.norm3(y))
            last = model.output(model.decoder_norm(y))[:, 0].argmax(dim=-1)
            for row, token in enumerate(last.tolist()):
                ended[row] = ended[row] or token == eos
                if not ended[row]:
                    said[row].append(token)
            if all(ended):
                break
    model.train(was_training)
    return said


@wrong(
    "cached_decode",
    "The model was in training before your call, and is not any more: whoever trains it goes on without dropout.",
)
def left_in_evaluation(model, source, bos, eos, max_len):
    def split(attention, x):
        return x.unflatten(-1, (attention.n_heads, -1)).transpose(1, 2)

    def keys_and_values(attention, x):
        return split(attention, attention.k_proj(x)), split(attention, attention.v_proj(x))

    def attend(attention, query, k, v, mask):
        q = split(attention, attention.q_proj(query))
        heads = nn.functional.scaled_dot_product_attention(q, k, v, mask)
        return attention.out_proj(heads.transpose(1, 2).flatten(2))

    model.eval()
    N = len(source)
    with torch.no_grad():
        memory, real = model.encode(source), (source != 0)[:, None, None, :]
        places = sinusoidal_positions(max_len + 1, memory.shape[-1])
        crosses = [keys_and_values(layer.cross_attention, memory) for layer in model.decoder]
        caches = [None for layer in model.decoder]
        last, seen = torch.full((N,), bos), torch.zeros(N, 0, dtype=torch.bool)
        said, ended = [[] for _ in range(N)], [False] * N
        for step in range(max_len):
            seen = torch.cat([seen, (last != 0)[:, None]], dim=1)
            y = model.target_embedding(last)[:, None] * memory.shape[-1] ** 0.5 + places[step]
            for i, layer in enumerate(model.decoder):
                n = layer.norm1(y)
                k, v = keys_and_values(layer.self_attention, n)
                if caches[i] is not None:
                    k, v = torch.cat([caches[i][0], k], dim=2), torch.cat([caches[i][1], v], dim=2)
                caches[i] = k, v
                y = y + attend(layer.self_attention, n, k, v, seen[:, None, None, :])
                y = y + attend(layer.cross_attention, layer.norm2(y), *crosses[i], real)
                y = y + layer.feed_forward(layer.norm3(y))
            last = model.output(model.decoder_norm(y))[:, 0].argmax(dim=-1)
            for row, token in enumerate(last.tolist()):
                ended[row] = ended[row] or token == eos
                if not ended[row]:
                    said[row].append(token)
            if all(ended):
                break
    return said


@wrong(
    "cached_decode",
    "A model in training drops something while you decode: what it says changes from call to call.",
)
def dropout_while_decoding(model, source, bos, eos, max_len):
    def split(attention, x):
        return x.unflatten(-1, (attention.n_heads, -1)).transpose(1, 2)

    def keys_and_values(attention, x):
        return split(attention, attention.k_proj(x)), split(attention, attention.v_proj(x))

    def attend(attention, query, k, v, mask):
        q = split(attention, attention.q_proj(query))
        heads = nn.functional.scaled_dot_product_attention(q, k, v, mask, 0.5 * model.training)
        return attention.out_proj(heads.transpose(1, 2).flatten(2))

    was_training = model.training
    N = len(source)
    with torch.no_grad():
        memory, real = model.encode(source), (source != 0)[:, None, None, :]
        places = sinusoidal_positions(max_len + 1, memory.shape[-1])
        crosses = [keys_and_values(layer.cross_attention, memory) for layer in model.decoder]
        caches = [None for layer in model.decoder]
        last, seen = torch.full((N,), bos), torch.zeros(N, 0, dtype=torch.bool)
        said, ended = [[] for _ in range(N)], [False] * N
        for step in range(max_len):
            seen = torch.cat([seen, (last != 0)[:, None]], dim=1)
            y = model.target_embedding(last)[:, None] * memory.shape[-1] ** 0.5 + places[step]
            for i, layer in enumerate(model.decoder):
                n = layer.norm1(y)
                k, v = keys_and_values(layer.self_attention, n)
                if caches[i] is not None:
                    k, v = torch.cat([caches[i][0], k], dim=2), torch.cat([caches[i][1], v], dim=2)
                caches[i] = k, v
                y = y + attend(layer.self_attention, n, k, v, seen[:, None, None, :])
                y = y + attend(layer.cross_attention, layer.norm2(y), *crosses[i], real)
                y = y + layer.feed_forward(layer.norm3(y))
            last = model.output(model.decoder_norm(y))[:, 0].argmax(dim=-1)
            for row, token in enumerate(last.tolist()):
                ended[row] = ended[row] or token == eos
                if not ended[row]:
                    said[row].append(token)
            if all(ended):
                break
    model.train(was_training)
    return said


@right("cached_decode")
def decoding_with_full_caches(model, source, bos, eos, max_len):
    was_training = model.training
    model.eval()
    with torch.no_grad():
        N, D = len(source), model.output.in_features
        h = model.decoder[0].self_attention.n_heads
        memory, words = model.encode(source), (source != 0).reshape(N, 1, 1, -1)
        places = sinusoidal_positions(max_len, D)

        def cut(x):
            return x.reshape(N, -1, h, D // h).transpose(1, 2)

        keys = [torch.zeros(N, h, max_len, D // h, dtype=memory.dtype) for _ in model.decoder]
        values = [torch.zeros_like(key) for key in keys]
        mk = [cut(layer.cross_attention.k_proj(memory)) for layer in model.decoder]
        mv = [cut(layer.cross_attention.v_proj(memory)) for layer in model.decoder]
        visible = torch.zeros(N, 1, 1, max_len, dtype=torch.bool)
        tokens = torch.full((N, 1), bos)
        lines = []
        for t in range(max_len):
            visible[..., t] = (tokens != 0)[:, :, None]
            y = model.target_embedding(tokens) * np.sqrt(D) + places[t]
            for layer, key, value, k, v in zip(model.decoder, keys, values, mk, mv, strict=True):
                n, own, cross = layer.norm1(y), layer.self_attention, layer.cross_attention
                key[:, :, t : t + 1], value[:, :, t : t + 1] = cut(own.k_proj(n)), cut(own.v_proj(n))
                out = nn.functional.scaled_dot_product_attention(cut(own.q_proj(n)), key, value, visible)
                y = y + own.out_proj(out.transpose(1, 2).reshape(N, 1, D))
                n = layer.norm2(y)
                out = nn.functional.scaled_dot_product_attention(cut(cross.q_proj(n)), k, v, words)
                y = y + cross.out_proj(out.transpose(1, 2).reshape(N, 1, D))
                y = y + layer.feed_forward(layer.norm3(y))
            tokens = model.output(model.decoder_norm(y)).argmax(dim=-1)
            lines.append(tokens[:, 0])
        rows = torch.stack(lines, dim=1).tolist() if lines else [[]] * N
    model.train(was_training)
    return [row[: row.index(eos)] if eos in row else row for row in rows]


@right("cached_decode")
def decoding_row_by_row(model, source, bos, eos, max_len):
    was_training = model.training
    model.eval()
    answers = []
    for row in source:
        words = row[row != 0][None]
        with torch.no_grad():
            memory = model.encode(words)
        D, token, said, seen = memory.shape[-1], bos, [], []
        caches = [{} for _ in model.decoder]
        while len(said) < max_len:
            seen.append(token != 0)
            with torch.no_grad():
                y = D**0.5 * model.target_embedding.weight[token] + sinusoidal_positions(len(seen), D)[-1]
                for layer, cache in zip(model.decoder, caches, strict=True):
                    own, cross = layer.self_attention, layer.cross_attention
                    n = layer.norm1(y)
                    cache["k"] = torch.cat([*([cache["k"]] if "k" in cache else []), own.k_proj(n)[None]])
                    cache["v"] = torch.cat([*([cache["v"]] if "v" in cache else []), own.v_proj(n)[None]])
                    if "memory" not in cache:
                        cache["memory"] = cross.k_proj(memory[0]), cross.v_proj(memory[0])
                    mine = torch.tensor(seen)
                    for part, norm, k, v, mask in (
                        (own, layer.norm1, cache["k"], cache["v"], mine),
                        (cross, layer.norm2, *cache["memory"], torch.ones(words.shape[1], dtype=torch.bool)),
                    ):
                        q, heads = part.q_proj(norm(y)), []
                        for a, b, c in zip(
                            q.chunk(part.n_heads), k.chunk(part.n_heads, -1), v.chunk(part.n_heads, -1), strict=True
                        ):
                            s = (b @ a / len(a) ** 0.5)[mask]
                            heads.append(s.softmax(dim=0) @ c[mask] if len(s) else torch.zeros_like(a))
                        y = y + part.out_proj(torch.cat(heads))
                    y = y + layer.feed_forward(layer.norm3(y))
                token = int(model.output(model.decoder_norm(y)).argmax())
            if token == eos:
                break
            said.append(token)
        answers.append(said)
    model.train(was_training)
    return answers


@right("cached_decode")
def decoding_the_rows_that_go_on(model, source, bos, eos, max_len):
    flag = model.training
    model.eval()
    said = [[] for _ in source]
    with torch.inference_mode():
        memory = model.encode(source)
        D, h = memory.shape[-1], model.decoder[0].self_attention.n_heads
        heads = lambda x: x.unflatten(-1, (h, D // h)).transpose(1, 2)  # noqa: E731
        table = {}
        for i, layer in enumerate(model.decoder):
            cross = layer.cross_attention
            table[i, "memory"] = torch.stack([heads(cross.k_proj(memory)), heads(cross.v_proj(memory))])
        going, tokens = torch.arange(len(source)), torch.full((len(source),), bos)
        real, seen = source.ne(0), None
        for t in range(max_len):
            if len(going) == 0:
                break
            seen = tokens.ne(0)[:, None] if seen is None else torch.cat([seen, tokens.ne(0)[:, None]], 1)
            y = model.target_embedding(tokens[:, None]) * D**0.5 + sinusoidal_positions(t + 1, D)[t:]
            for i, layer in enumerate(model.decoder):
                own, cross, n = layer.self_attention, layer.cross_attention, layer.norm1(y)
                new = torch.stack([heads(own.k_proj(n)), heads(own.v_proj(n))])
                table[i] = new if i not in table else torch.cat([table[i], new], dim=3)
                out = nn.functional.scaled_dot_product_attention(heads(own.q_proj(n)), *table[i], seen[:, None, None])
                y = y + own.out_proj(out.transpose(1, 2).flatten(2))
                q = heads(cross.q_proj(layer.norm2(y)))
                out = nn.functional.scaled_dot_product_attention(q, *table[i, "memory"], real[:, None, None])
                y = y + cross.out_proj(out.transpose(1, 2).flatten(2))
                y = y + layer.feed_forward(layer.norm3(y))
            tokens = model.output(model.decoder_norm(y)).argmax(-1)[:, 0]
            stay = tokens != eos
            going, tokens, real, seen = going[stay], tokens[stay], real[stay], seen[stay]
            table = {name: part[:, stay] for name, part in table.items()}
            for row, token in zip(going.tolist(), tokens.tolist(), strict=True):
                said[row].append(token)
    model.train(flag)
    return said
