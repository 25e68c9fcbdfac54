"""How work is done: jobs in parallel, their share of the cores, and compiled loops.

==============  ==========================================================================
Module          What is in it
==============  ==========================================================================
`jobs`          The one place where work is started, shown and, if a call ends early, stopped
`pickles`       Pickles, which leave classes of a script as they are
`progress`      Bars on terminals and in notebooks, or lines in a log
`loops`         Loops that are compiled when they are first called
`machine_code`  How numba compiles them, once per machine
==============  ==========================================================================
"""

from pyinterp.parallel.jobs import EndOfCall, outcomes, stop_if_over
