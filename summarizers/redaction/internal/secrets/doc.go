// Package secrets finds secrets in texts.
//
// The rules are those of gitleaks (expressions, words, entropies and allowlists) as a generated table, and some of our
// own. The engine that runs them is our own, too. Gitleaks' engine is made for files and repositories. It adds 40
// modules and 4.5 MB (git, archives, templates, terminals), reports the line of a secret but not its position, and logs
// secrets at its lowest level. It reads a text once for each rule that has a word anywhere in it, and its running time
// grows with the square of the findings. The module in summarizers/redaction/gitleaks writes the table, and its tests
// compare our findings with that engine's.
//
// The words of all rules are found in one pass. At each word its rules read what is near, at most some hundred bytes: the
// expressions of gitleaks as sequences of characters without a general engine, ours by functions. What a rule has read
// to its end it does not read again, so that the time grows like the text, whatever the text.
//
// A text is searched without its JSON escapes. A secret that a rule recognizes by its context is then
// found at every place in the text.
package secrets
