"""Side-by-side benchmarks: our driver and those of peers, measured in turns.

`cyclotron.cli.bench` is the command; ``benches/README.md`` in the repository
describes the drivers and what they say.
"""
