"""Stages, one file a kind: each turns a `StageContext` into an artifact, by calling the layers below."""
