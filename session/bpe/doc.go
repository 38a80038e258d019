// Package bpe counts tokens as the byte pair encodings o200k_base and cl100k_base make them.
//
// The counts are those of OpenAI's own tokenizer, on every text: the pre-tokenizer is a scanner written after its
// regular expressions, and the merges are made in the same order. What takes the libraries for it the square of the
// length, a long run of one kind of character, takes n log n here, so that no input stalls the daemon. Texts such as
// <|endoftext|> count as the ordinary text that they are in a message.
//
// Two differences are known. A run of one kind of character of more than a MiB is cut there, to bound the memory that it
// takes. And which characters are letters and numbers is by the Go release's version of Unicode: of characters that are
// new in a later one the count can be off by one or two.
package bpe
