"""What a schedule does, made visible: traffic, power and use over time.

`measure` counts, `tables` writes CSV and Parquet, `plots` and `page` make an HTML
report of one file that needs no network. Plots need the extra ``report``
(matplotlib, pyarrow); counting does not.
"""

from __future__ import annotations

from cyclotron.profile.measure import Profile, profile
from cyclotron.profile.page import write_report

__all__ = ["Profile", "profile", "write_report"]
