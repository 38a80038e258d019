package httpapi

import (
	"errors"
	"math"
	"net/http"
	"strconv"

	"connectrpc.com/connect"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// retryAfter is the header that says in how many seconds a call may be repeated.
const retryAfter = "Retry-After"

// failure returns the error of a call as connect-go tells it, with the details of its status.
func (c *call) failure(err error) *connect.Error {
	st := status.Convert(err)
	failed := connect.NewError(connect.Code(st.Code()), errors.New(st.Message()))
	for _, packed := range st.Proto().GetDetails() {
		if detail, err := connect.NewErrorDetail(packed); err == nil {
			failed.AddDetail(detail)
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	addTo(failed.Meta(), c.header)
	addTo(failed.Meta(), c.trailer)
	if wait, known := waitOf(st); known && c.form.bare {
		failed.Meta().Set(retryAfter, wait)
	}
	return failed
}

// waitOf returns after how many seconds a call may be repeated, at least one.
func waitOf(st *status.Status) (seconds string, known bool) {
	for _, detail := range st.Details() {
		if retry, is := detail.(*errdetails.RetryInfo); is {
			return strconv.Itoa(max(1, int(math.Ceil(retry.GetRetryDelay().AsDuration().Seconds())))), true
		}
	}
	return "", false
}

// addTo adds metadata to headers.
func addTo(header http.Header, md metadata.MD) {
	for key, values := range md {
		for _, value := range values {
			header.Add(key, value)
		}
	}
}
