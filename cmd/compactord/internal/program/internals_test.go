package program

// Description lets tests from outside know the text of the help.
const Description = description
