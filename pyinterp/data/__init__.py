"""From the user's data to checked samples and designs.

In come a formula or arrays, and a data frame; out go a `Sample` (rows of variables with their
response, which is never missing), a `Design` (how variables become the columns of a model) and
`Features` (variables, or groups of variables that are replaced together). Everything a user gives
is checked here, once: a sample is named and finite, and lacks only values that its
learner can do without.

================  ===============================================================================
Module            Content
================  ===============================================================================
`frames`          Frames, columns and arrays of any library as pandas objects
`formula`         The grammar of formulas, and refusals
`columns`         Columns as numbers, levels and dates, which estimands read; typical values
`form`            Container, names and types of the user's rows, in which models see them
`design`          Designs: variables to columns, and columns of rows with replaced values
`readers`         The two ways in: a formula with a frame, or a response with variables
`queries`         Conditions on columns, without code
`row_data`        The user's rows, read once, with weights, offset and the rows analyzed
`sample`          Samples and responses
`missing`         Missing values: which rows are analyzed, and the words of tables
`weights`         Weights of rows (frequencies, or inverse probabilities of sampling), and offsets
`features`        Features, and names that are looked up among them
================  ===============================================================================

patsy builds the columns. A new kind of input is a new reader; nothing further up knows which.
"""
