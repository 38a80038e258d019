package program

// Description exports the text of the help to external tests.
const Description = description
