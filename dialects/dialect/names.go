package dialect

// IsName reports whether a text has only ASCII letters, digits, underscores and hyphens, as ids and names must.
func IsName(text string) bool {
	for _, c := range []byte(text) {
		letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
		if !letter && (c < '0' || c > '9') && c != '_' && c != '-' {
			return false
		}
	}
	return text != ""
}

// CleanName turns any name into one that IsName accepts, of at most maxBytes bytes.
func CleanName(name string, maxBytes int) string {
	clean := CleanID(name)
	return clean[:min(len(clean), maxBytes)]
}
