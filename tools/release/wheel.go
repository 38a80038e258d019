package main

import (
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"time"
)

// platformWheel returns a wheel without a program as one that brings the program to the environment's other programs, and
// its list of parts. The layout is that of the specifications of the Python Packaging Authority: binary distribution format,
// and PEP 770 for the list.
func platformWheel(pure []entry, p platform, program, parts []byte, at time.Time) (name string, content []byte, err error) {
	info := ""
	for _, f := range pure {
		if folder, ok := strings.CutSuffix(f.name, ".dist-info/WHEEL"); ok {
			info = folder
		}
	}
	if info == "" {
		return "", nil, errors.New("the wheel without a program has no WHEEL")
	}
	var files []entry
	for _, f := range pure {
		switch f.name {
		case info + ".dist-info/RECORD":
			continue
		case info + ".dist-info/WHEEL":
			f.content = []byte(tagged(string(f.content), p.wheelTags))
		}
		files = append(files, f)
	}
	files = append(files,
		entry{info + ".data/scripts/" + p.program(), program, executable},
		entry{info + ".dist-info/sboms/compactord.cdx.json", parts, plain},
	)
	files = append(files, entry{info + ".dist-info/RECORD", record(files, info), plain})
	content, err = zipped(files, at)
	return fmt.Sprintf("%s-py3-none-%s.whl", info, strings.Join(p.wheelTags, ".")), content, err
}

// tagged returns the text of WHEEL for a platform.
func tagged(wheel string, tags []string) string {
	var lines []string
	for line := range strings.Lines(wheel) {
		switch line = strings.TrimSpace(line); {
		case strings.HasPrefix(line, "Root-Is-Purelib:"):
			lines = append(lines, "Root-Is-Purelib: false")
		case strings.HasPrefix(line, "Tag:"):
			for _, tag := range tags {
				lines = append(lines, "Tag: py3-none-"+tag)
			}
		case line != "":
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n") + "\n"
}

// record returns the list of a wheel's files with their digests and sizes.
func record(files []entry, info string) []byte {
	var out strings.Builder
	for _, f := range files {
		digest := sha256.Sum256(f.content)
		fmt.Fprintf(&out, "%s,sha256=%s,%d\n", f.name, base64.RawURLEncoding.EncodeToString(digest[:]), len(f.content))
	}
	fmt.Fprintf(&out, "%s.dist-info/RECORD,,\n", info)
	return []byte(out.String())
}
