// Package secrets finds secrets in texts.
//
// The rules are those of gitleaks (expressions, words, entropies, and what is no secret) as a generated table, and a few of
// ours. What runs them is ours as well. Gitleaks' own engine is made for files and repositories: it adds 40 modules and 4.5 MB
// (git, archives, templates, terminals), says in which line a secret is but not where, logs secrets at its lowest level, reads
// a text once for each rule that has a word anywhere in it, and takes time that grows with the square of the findings. The
// module in summarizers/redaction/gitleaks writes the table, and its tests hold what is found here to that engine.
//
// A text is looked at as it stands, and without the escapes of JSON. What one rule recognizes by what stands around it is
// found wherever it stands in the text.
package secrets
