package dialect

// IsName says whether a text is made of ASCII letters, digits, underscores and hyphens, as ids and names have to be.
func IsName(text string) bool {
	for _, c := range []byte(text) {
		letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
		if !letter && (c < '0' || c > '9') && c != '_' && c != '-' {
			return false
		}
	}
	return text != ""
}

// CleanName makes of any name one that IsName, of at most so many bytes.
func CleanName(name string, maxBytes int) string {
	clean := CleanID(name)
	return clean[:min(len(clean), maxBytes)]
}
