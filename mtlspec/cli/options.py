"""Arguments and options that several commands have, said once."""

from __future__ import annotations

from typing import Annotated

import typer

Spec = Annotated[str, typer.Argument(help="A spec file, the name of one in specs/, or a run's name.")]
Overrides = Annotated[
    list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Override: key.path=value. Repeatable.")
]
VariantName = Annotated[str | None, typer.Option("--as", metavar="NAME", help="Name of the variant that --set makes.")]
Json = Annotated[bool, typer.Option("--json", help="For scripts.")]
