package dialects

import (
	"fmt"
	"strings"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// piShell turns a command that the user ran in Pi's shell into a message of the user: the model is to know of it. It
// returns nil where the user excluded the command from the context.
func piShell(o object, r *remarks) (*compactordv1.Message, error) {
	excluded, err := o.truth("excludeFromContext")
	if err != nil {
		return nil, err
	}
	if excluded {
		r.add(excludedShell)
		return nil, nil
	}
	text, err := piShellText(o)
	if err != nil {
		return nil, err
	}
	if len(text) > maxText {
		return nil, in("output", tooLarge(len(text), maxText))
	}
	return &compactordv1.Message{
		Role:   compactordv1.Role_ROLE_USER,
		Origin: compactordv1.Origin_ORIGIN_IMPORT,
		Parts:  []*compactordv1.Part{textPart(text)},
	}, nil
}

func piShellText(o object) (string, error) {
	command, err := o.demandText("command")
	if err != nil {
		return "", err
	}
	output, err := o.text("output")
	if err != nil {
		return "", err
	}
	ending, err := piShellEnding(o)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "I ran a shell command: `%s`\n", command)
	if output == "" {
		b.WriteString("It printed nothing.")
	} else {
		fence := fenceFor(output)
		fmt.Fprintf(&b, "%s\n%s\n%s", fence, strings.TrimSuffix(output, "\n"), fence)
	}
	b.WriteString(ending)
	return b.String(), nil
}

// piShellEnding tells how the command ended, where that is not the usual way, and where the rest of its output is.
func piShellEnding(o object) (string, error) {
	cancelled, err := o.truth("cancelled")
	if err != nil {
		return "", err
	}
	truncated, err := o.truth("truncated")
	if err != nil {
		return "", err
	}
	whole, err := o.text("fullOutputPath")
	if err != nil {
		return "", err
	}
	ending := ""
	if cancelled {
		ending += "\nI cancelled it before it ended."
	} else if o.has("exitCode") {
		if kindOf(o["exitCode"]) != kindNumber {
			return "", in("exitCode", wrongKind(o["exitCode"], kindNumber))
		}
		if code := string(o["exitCode"]); code != "0" {
			ending += "\nExit code: " + code
		}
	}
	if truncated && whole != "" {
		ending += "\nThe output is shortened; all of it is in " + whole
	}
	return ending, nil
}

// fenceFor returns a fence that the text cannot close.
func fenceFor(text string) string {
	longest, run := 2, 0
	for _, r := range text {
		if r != '`' {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	return strings.Repeat("`", longest+1)
}
