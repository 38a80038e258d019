package grounding

import (
	"strings"

	"github.com/compactord/compactord/summarizers/extractive/evidence"
)

// commonplace says whether a name needs no source, since anybody may know it: names of products, of standards and of
// files that many projects have. The form of a name decides first, and a list only where names of both kinds have the
// same form. code says that the name stands in code or is called.
func commonplace(n evidence.Name, code bool) bool {
	switch n.Kind {
	case evidence.Number:
		// Models convert and add numbers.
		return true
	case evidence.Path:
		return commonplacePath(n.Text)
	case evidence.Code:
		return commonplaceCode(n.Text)
	case evidence.Identifier:
		return commonplaceIdentifier(n.Text, code)
	default:
		return false
	}
}

// commonplaceCode says whether a code is an errno or a signal, which models write for an error in words, or that of a
// standard. Those of a program or a tracker are not.
func commonplaceCode(code string) bool {
	letters := strings.TrimRight(code, "0123456789")
	body, dash := strings.CutSuffix(letters, "-")
	switch {
	case letters == code:
		return !strings.HasPrefix(code, "0x")
	case dash && len(body) < 3:
		// Trackers have short names, as in PS-1234.
		return false
	default:
		// A standard can have parts, as in ISO-8859-1.
		first, _, _ := strings.Cut(body, "-")
		return standards[first] || standardNames[code]
	}
}

// commonplaceIdentifier says whether an identifier can be the name of a product. Most of these are two capitalized
// words, as BigQuery and PostgreSQL are. In prose these are not looked up, and in code only a list tells them from types.
func commonplaceIdentifier(word string, code bool) bool {
	if isDigit(word[0]) {
		// A number with its unit, such as 1024KiB.
		return true
	}
	if standardNames[strings.ToLower(word)] {
		return true
	}
	if strings.Contains(word, "_") {
		return false
	}
	first, rest := cutHump(word)
	second, more := cutHump(rest)
	switch {
	case isUpper(word[0]):
		return more == "" && (!code || productEndings[second])
	case len(first) == 1:
		// iMessage and eCommerce.
		return more == "" && (first == "i" || first == "e")
	default:
		return rest == "OS"
	}
}

// cutHump cuts the first word off a camelCase name. Several capitals are one word, with the s of a plural after them.
func cutHump(name string) (word, rest string) {
	for i := 1; i < len(name); i++ {
		if !isUpper(name[i]) {
			continue
		}
		lowerNext := i+1 < len(name) && !isUpper(name[i+1]) && !isDigit(name[i+1]) && name[i+1:] != "s"
		if !isUpper(name[i-1]) || lowerNext {
			return name[:i], name[i:]
		}
	}
	return name, ""
}

// commonplacePath says whether many projects have a file, or all systems. Of names with a slash between them, as in
// `README.md/LICENSE.md`, each must be commonplace.
func commonplacePath(path string) bool {
	if strings.HasPrefix(path, "/") {
		return standardFolders().MatchString(path)
	}
	for segment := range strings.SplitSeq(path, "/") {
		if !commonplaceFile(segment) {
			return false
		}
	}
	return true
}

// commonplaceFile says whether a name without a folder is that of a file that many projects have. README.md and
// vite.config.ts show it in their form, and so does Node.js.
func commonplaceFile(name string) bool {
	dot := strings.LastIndexByte(name, '.')
	if dot <= 0 {
		return false
	}
	stem, extension := name[:dot], name[dot+1:]
	switch {
	case strings.Trim(stem, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_") == "" || strings.HasSuffix(stem, ".config"):
		return true
	case extension == "js" && isUpper(stem[0]) && strings.Trim(stem[1:], lowerLetters) == "":
		return true
	default:
		return standardStems[strings.ToLower(stem)] || standardFiles[strings.ToLower(name)]
	}
}

// isPlainFile says whether a path is a file's name of one word in small letters.
func isPlainFile(path string) bool {
	stem, _, _ := strings.Cut(path, ".")
	return stem != "" && strings.Trim(stem, lowerLetters) == "" && strings.Count(path, ".") == 1
}

const lowerLetters = "abcdefghijklmnopqrstuvwxyz"

func isUpper(c byte) bool { return c >= 'A' && c <= 'Z' }

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
