"""From the user's data to checked samples and designs.

In come a formula or arrays, and a data frame; out go a `Sample` (rows of variables with their
response, which is never missing), a `Design` (how variables become the columns of a model) and
`Features` (variables, or groups of variables that are replaced together). Everything a user gives
is checked here, once: a sample is named and finite, and lacks only what its learner takes.

==============  ===============================================================================
Module          What is in it
==============  ===============================================================================
`frames`        Frames, Series, arrays and Arrow tables as pandas objects with text as names
`formula`       The grammar of formulas, and what is refused
`design`        Designs: variables to columns, and columns of rows with replaced values
`readers`       The two ways in: a formula with a frame, or a response with variables
`queries`       Conditions on columns, without code
`row_data`      The user's data, in which masks, queries and columns name rows
`sample`        Samples and responses
`missing`       Missing values: which rows are analyzed, and what tables say
`weights`       Weights of rows: frequencies, or inverse probabilities of sampling
`offset`        Offsets and exposures of rows
`features`      Features, and names that are looked up among them
`typical`       Medians and most frequent levels
==============  ===============================================================================

patsy builds the columns. A new kind of input is a new reader; nothing further up knows which.
"""
