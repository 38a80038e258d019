package evidence

import "strings"

// extensions are those by which a name alone is known as a file's.
var extensions = setOf(`bash bat c cc cfg cjs clj cmake conf cpp cs css csv dart diff dll ex exs gif go gradle graphql h hpp hs
	htm html ico ini ipynb jar java jpeg jpg js json jsonl jsx kt less lock log lua m md mdx mjs ml mod nix patch pdf php
	pl plist png proto ps1 py pyc pyi r rb rs rst sass scala scss sh sol sql sqlite sum svelte svg swift tar tex tf toml ts
	tsv tsx txt vue wasm xml yaml yml zig zip`)

// errnos are the names of common errors of operating systems.
var errnos = setOf(`E2BIG EACCES EADDRINUSE EADDRNOTAVAIL EAGAIN EBADF EBUSY ECANCELED ECHILD ECONNABORTED ECONNREFUSED
	ECONNRESET EDEADLK EDQUOT EEXIST EFAULT EFBIG EHOSTUNREACH EINTR EINVAL EISDIR ELOOP EMFILE EMSGSIZE ENAMETOOLONG
	ENETUNREACH ENFILE ENODEV ENOENT ENOEXEC ENOMEM ENOSPC ENOSYS ENOTCONN ENOTDIR ENOTEMPTY ENOTFOUND ENOTSUP EPERM EPIPE
	EPROTO ERANGE EROFS ETIMEDOUT EWOULDBLOCK EXDEV`)

// commonplace are paths that say nothing about a conversation.
var commonplace = setOf("/dev/null /bin/sh /bin/bash /usr/bin/env /usr/bin/bash")

func setOf(words string) map[string]bool {
	set := make(map[string]bool)
	for _, w := range strings.Fields(words) {
		set[w] = true
	}
	return set
}
