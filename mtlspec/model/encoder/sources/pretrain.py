"""An encoder made here: WordPiece and a BERT trained on the experiment's own text.

Only the words of the training split are learnt from; the development split measures.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import Field, model_validator

from mtlspec.spec.card_families import SourceOptions

if TYPE_CHECKING:
    from mtlspec.data.sentence import Sentence
    from mtlspec.data.tokenizer import WordTokenizer
    from mtlspec.model.encoder.pretraining import Text
    from mtlspec.model.encoder.request import Request

Positive = Annotated[int, Field(ge=1)]
POSITION_SCALE = 0.03  # of the size of the first word vectors
Share = Annotated[float, Field(ge=0, lt=1)]


class Options(SourceOptions):
    learns_from_data: ClassVar[bool] = True
    type: Literal["pretrain"]
    layers: Positive = Field(default=4, description="Transformer layers.")
    heads: Positive = Field(default=8, description="Attention heads of a layer.")
    width: Positive = Field(default=128, description="Size of a hidden state; a multiple of `heads`.")
    feed_forward: Positive = Field(default=512, description="Size of the feed-forward layer.")
    positions: Annotated[int, Field(ge=8)] = Field(default=256, description="Longest input in sub-tokens.")
    dropout: Share = Field(default=0.1, description="Of the encoder when tasks are trained; pre-training uses none.")
    vocabulary: Annotated[int, Field(ge=32)] = Field(default=2000, description="Most WordPiece entries.")
    min_frequency: Positive = Field(default=2, description="How often a piece must occur to enter the vocabulary.")
    lowercase: bool = Field(default=False, description="Whether the tokenizer lowers all letters.")
    epochs: Positive = Field(default=6, description="Passes over the training text.")
    sentences: Positive = Field(default=16, description="Sentences a batch.")
    tokens: Positive = Field(default=3200, description="Padded sub-tokens a batch.")
    mask: Annotated[float, Field(gt=0, lt=1)] = Field(default=0.4, description="Share of sub-tokens to predict.")
    lr: Annotated[float, Field(gt=0)] = Field(default=1.5e-3, description="Peak learning rate.")
    warmup: Share = Field(default=0.1, description="Share of the updates over which the rate rises from zero.")
    weight_decay: Annotated[float, Field(ge=0)] = Field(default=0.01, description="AdamW's decoupled weight decay.")
    clip: Annotated[float, Field(gt=0)] = Field(default=1.0, description="Largest global gradient norm.")
    seed: Annotated[int, Field(ge=0, lt=2**31)] = Field(default=1, description="Of weights, order and masks.")

    @model_validator(mode="after")
    def _heads_divide_the_width(self) -> Options:
        if self.width % self.heads:
            raise ValueError(f"width {self.width} is not a multiple of heads {self.heads}")
        return self

    def about(self) -> str:
        return "learnt from the text of the spec's data"

    def fetch(self, request: Request) -> dict[str, Any]:
        """Train the tokenizer and the model; facts: sizes, learning curve, scores on masked words of the dev split."""
        import torch

        from mtlspec.model.encoder.pretraining import Schedule, masked_scores, pretrain

        tokenizer, texts = _read_texts(self, request)
        torch.manual_seed(self.seed)
        model = _build(self, tokenizer.vocabulary_size, tokenizer.specials.pad).to(request.device)
        schedule = Schedule(
            **self.model_dump(
                include={"epochs", "sentences", "tokens", "lr", "warmup", "weight_decay", "clip", "mask", "seed"}
            )
        )
        curve = pretrain(model, texts["train"], tokenizer.specials, schedule, request.progress, request.points)
        dev = masked_scores(model, texts["dev"], tokenizer.specials, schedule)
        _save(model, self, request)
        return {
            "parameters": sum(p.numel() for p in model.bert.parameters()),
            "vocabulary": tokenizer.vocabulary_size,
            "pieces": {split: len(text.pieces) for split, text in texts.items()},
            "curve": curve,
            "dev": dev,
        }

    def layer_count(self) -> int:
        return self.layers

    def shape(self) -> Any:
        return _config(self, self.vocabulary, 0)


def _read_texts(options: Options, request: Request) -> tuple[WordTokenizer, dict[str, Text]]:
    """Learn the tokenizer from the training words, save it, and read the texts through it."""
    from mtlspec.data.corpus import read_split
    from mtlspec.data.defects import own_folder
    from mtlspec.data.escapes import unescape
    from mtlspec.data.tokenizer import WordTokenizer
    from mtlspec.errors import EncoderError
    from mtlspec.io.project import Project
    from mtlspec.model.encoder.pretraining import Text
    from mtlspec.model.encoder.wordpiece import save_tokenizer, train_wordpiece

    if request.data_card is None or "data" not in request.inputs:
        raise EncoderError("E320", f"encoder '{request.name}' learns from data, but was given none")
    root = request.inputs["data"]
    shown = own_folder(request.data_card, Project(request.project_root))
    train = [_words(sentence) for sentence in read_split(request.data_card, root, "train", shown=shown)]
    dev = [_words(sentence) for sentence in read_split(request.data_card, root, "dev", shown=shown)]
    words = (unescape(word) for sentence in train for word in sentence)
    trained = train_wordpiece(words, options.vocabulary, options.min_frequency, options.lowercase)
    save_tokenizer(trained, request.out, options.positions, options.lowercase)
    tokenizer = WordTokenizer.load(request.out)
    table = tokenizer.pieces({word for sentence in (*train, *dev) for word in sentence})
    texts = {
        split: Text.of([[p for w in words for p in table[w]] for words in sentences], options.positions - 2)
        for split, sentences in (("train", train), ("dev", dev))
    }
    return tokenizer, texts


def _words(sentence: Sentence) -> tuple[str, ...]:
    """Of raw text, what blanks separate; the tokenizer takes punctuation off."""
    return sentence.words or tuple(word for text in sentence.texts for word in text.split())


def _config(options: Options, vocabulary: int, pad: int) -> Any:
    """The transformers config of the encoder while it is pre-trained."""
    from transformers import BertConfig

    return BertConfig(
        vocab_size=vocabulary,
        hidden_size=options.width,
        num_hidden_layers=options.layers,
        num_attention_heads=options.heads,
        intermediate_size=options.feed_forward,
        max_position_embeddings=options.positions,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
        pad_token_id=pad,
    )


def _build(options: Options, vocabulary: int, pad: int) -> Any:
    """Fresh weights; positions start as sinusoids, which lowers the loss of short runs slightly (about 0.05 nats)."""
    from transformers import BertForMaskedLM

    from mtlspec.model.encoder.pretraining import sinusoids

    model = BertForMaskedLM(_config(options, vocabulary, pad))
    positions = model.bert.embeddings.position_embeddings.weight.data
    positions.copy_(sinusoids(*positions.shape) * POSITION_SCALE)
    return model


def _save(model: Any, options: Options, request: Request) -> None:
    """Weights with the language-model head (plain encoders leave it out), and the config of later training."""
    from safetensors.torch import save

    from mtlspec.io.write import write_bytes, write_json
    from mtlspec.model.encoder.loading import config_values

    tied = {"cls.predictions.decoder.weight", "cls.predictions.decoder.bias"}
    weights = {name: t.detach().cpu().contiguous() for name, t in model.state_dict().items() if name not in tied}
    write_bytes(request.out / "model.safetensors", save(weights, metadata={"format": "pt"}))
    model.config.hidden_dropout_prob = options.dropout
    model.config.attention_probs_dropout_prob = options.dropout
    model.config.architectures = [type(model).__name__]
    write_json(request.out / "config.json", config_values(model.config))
