// Package inspector is a web page that shows the sessions of a daemon: what the log holds, what the model sees of it, and what
// stands for the rest. It works by the same RPCs as every other client, with a token that its user gives it, and reads only,
// unless it is told otherwise.
//
// The page is plain HTML and ES modules without a build, in the folder page; tsconfig.json says how verify checks them. An idea is
// a file there:
//
//	main.js       which view the address of the page names
//	api.js        calls of the daemon, and the token
//	token.js      the form that asks for a token
//	sessions.js   the list of sessions
//	session.js    a session: its parts, and the point that it is shown as of
//	lists.js      log and view side by side, and the chosen message
//	window.js     what is in the window, and what would free it
//	composition.js  categories of a view's tokens
//	plans.js      dry runs of prunes and compactions
//	live.js       follows a session
//	running.js    a compaction while it runs
//	difference.js what a record changed in the view
//	changes.js    what the page can change, where it may
//	proposal.js   the dialog that says what a change would do
//	log.js        the messages of the log that are loaded
//	view.js       the view, and what it has of each message of the log
//	rows.js       rows of these lists
//	message.js    one message
//	search.js     a search in the log
//	time.js       the points of a session
//	request.js    the JSON of a request in a dialect
//	history.js    the tokens of a session at each point
//	curve.js      the same as a curve
//	family.js     where a session comes from, its forks and its children
//	fullness.js   how full the windows of listed sessions are
//	virtual.js    a list of which only the rows in sight exist
//	text.js       texts as people can read them safely
//	dom.js        elements
//
// Single joins all of them into one file, in which file/api.js answers from what the file holds.
//
// All that comes from a conversation may be hostile. The page makes elements only through dom.js, which takes texts and never
// parses HTML, and its content security policy allows no other scripts, styles and connections than those of the daemon.
package inspector

import (
	"bytes"
	"embed"
	"io/fs"
	"net/http"
	"path"
)

// Path is where the page is.
const Path = "/inspect/"

//go:embed page
var files embed.FS

// types are the content types of the files. Those of the system may differ, and a browser runs no module of another type.
var types = map[string]string{
	".html": "text/html; charset=utf-8",
	".css":  "text/css; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".svg":  "image/svg+xml",
}

// policy lets the page use nothing but its own files and its own daemon, and no other page embed it.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

// Add adds the page to a mux. writing says whether it offers to change sessions; without that, its calls must go through
// ReadingUnary and ReadingStream.
func Add(mux *http.ServeMux, writing Writing) {
	_ = fs.WalkDir(files, "page", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := files.ReadFile(name)
		if path.Base(name) == "index.html" {
			if writing == Writes {
				content = bytes.Replace(content, []byte(`<html lang="en">`), []byte(`<html lang="en" data-write>`), 1)
			}
			mux.Handle("GET "+Path+"{$}", file(name, content))
		}
		mux.Handle("GET "+Path+path.Base(name), file(name, content))
		return err
	})
	mux.Handle("GET /{$}", http.RedirectHandler(Path, http.StatusFound))
}

// Writing says whether the page changes sessions.
type Writing bool

// What the page does.
const (
	Reads  Writing = false
	Writes Writing = true
)

// file answers with a file of the page.
func file(name string, content []byte) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		header := w.Header()
		header.Set("Content-Security-Policy", policy)
		header.Set("Cross-Origin-Opener-Policy", "same-origin")
		header.Set("Cross-Origin-Resource-Policy", "same-origin")
		header.Set("Referrer-Policy", "no-referrer")
		header.Set("Content-Type", types[path.Ext(name)])
		_, _ = w.Write(content)
	})
}
