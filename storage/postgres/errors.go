package postgres

import (
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/compactord/compactord/storage"
)

// The codes of errors that mean something to a store. The first two characters of a code are its class.
const (
	serializationFailure = "40001"
	deadlockDetected     = "40P01"
	diskFull             = "53100"
	lockNotAvailable     = "55P03"
	queryCanceled        = "57014"
	ioError              = "58030"
	readOnlyTransaction  = "25006"
	undefinedTable       = "42P01"
	uniqueViolation      = "23505"

	connectionClass   = "08"
	authClass         = "28"
	resourcesClass    = "53"
	interventionClass = "57"
	damageClass       = "XX"
)

// The codes of answers that a person can do something about, as Code returns them.
const (
	// NoRights means that the role lacks rights on the tables.
	NoRights = "42501"
	// NoDatabase means that there is no such database.
	NoDatabase = "3D000"
	// NotAuthorized means that the server does not let the role in, such as one that does not exist.
	NotAuthorized = "28000"
	// WrongPassword means that the password is missing or wrong.
	WrongPassword = "28P01"
)

// answerError is what a server has answered, without what it may have quoted.
type answerError struct{ text, code string }

func (e *answerError) Error() string { return e.text }

// Code returns the code of an error that the server has answered, five characters; empty where it has answered none.
func Code(err error) string {
	var answer *answerError
	if errors.As(err, &answer) {
		return answer.code
	}
	return ""
}

// quiet are the classes of errors whose messages may quote values, and so conversations.
var quiet = []string{"21", "22", "23", "P0", "XX"}

// fault is why an operation failed.
type fault struct {
	// err is the error for the caller. It has nothing that the server may have quoted.
	err error
	// lost says that the connection was lost, so that the outcome is not known.
	lost bool
	// again says that nothing was done, and that another attempt may succeed.
	again bool
	// outage says that the database as a whole does not work, not only for this operation.
	outage bool
	// known says that a request was to be remembered that is already.
	known bool
}

// faultOf returns why an operation failed. closed says that its connection is closed now.
func faultOf(err error, closed bool) *fault {
	var answer *pgconn.PgError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &answer):
		f := answered(answer)
		f.lost = closed
		return f
	case closed:
		return &fault{err: unreachable(err), lost: true, outage: true}
	default:
		return &fault{err: err}
	}
}

// unreachable is the error where there is no connection to the database. pgx leaves passwords out of its errors.
func unreachable(err error) error {
	plain := &answerError{text: err.Error(), code: Code(err)}
	var answer *pgconn.PgError
	if errors.As(err, &answer) {
		plain.code = answer.Code
	}
	return &storage.DiskError{Cause: storage.DiskUnreachable, Err: plain}
}

// answered converts an error that the server answered.
func answered(e *pgconn.PgError) *fault {
	err := &answerError{text: textOf(e), code: e.Code}
	disk := func(cause storage.DiskCause) error { return &storage.DiskError{Cause: cause, Err: err} }
	switch e.Code {
	case diskFull:
		return &fault{err: disk(storage.DiskFull), outage: true}
	case ioError:
		return &fault{err: disk(storage.DiskBroken), outage: true}
	case readOnlyTransaction:
		return &fault{err: disk(storage.DiskReadOnly), outage: true}
	case serializationFailure, deadlockDetected:
		return &fault{err: disk(storage.DiskUnreachable), again: true}
	case uniqueViolation:
		return &fault{err: err, known: strings.HasPrefix(e.TableName, "requests")}
	case lockNotAvailable, queryCanceled:
		return &fault{err: disk(storage.DiskUnreachable)}
	}
	switch e.Code[:min(2, len(e.Code))] {
	case connectionClass, authClass, resourcesClass, interventionClass:
		return &fault{err: disk(storage.DiskUnreachable), outage: true}
	case damageClass:
		return &fault{err: fmt.Errorf("%w: %w", storage.ErrCorrupt, err)}
	default:
		return &fault{err: err}
	}
}

// textOf returns what an error says about the database, without its content.
func textOf(e *pgconn.PgError) string {
	for _, class := range quiet {
		if strings.HasPrefix(e.Code, class) {
			return fmt.Sprintf("PostgreSQL: error %s on table %q, constraint %q", e.Code, e.TableName, e.ConstraintName)
		}
	}
	return fmt.Sprintf("PostgreSQL: %s (%s)", e.Message, e.Code)
}
