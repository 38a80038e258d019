package main

import compactordv1 "github.com/compactord/compactord/proto/compactord/v1"

const (
	systemPrompt = "You are a coding agent in the repository of a ticket shop."
	request      = "Customers get refunds that are a cent short. Find out why, mend it, and release it."
	memory       = "- Money is int64 cents, never float.\n- Never touch db/migrations."
	cause        = "shop/refund.go:13 divides the cents by the number of seats and drops what remains. TestRefundOfThree shows it."
	mended       = "func Split(total int64, seats int) []int64 {\n\tshare, rest := total/int64(seats), total%int64(seats)\n\t..."
	review       = "shop/refund.go is right: the cents that remain go to the first seat, and all amounts are int64."
)

// search are the messages of the sub-task that finds the cause.
var search = [][]*compactordv1.Message{
	step("call_1", "grep", `{"pattern": "Refund", "path": "shop"}`,
		"shop/refund.go:11: func Split(total int64, seats int) []int64 {\nshop/refund_test.go:20: func TestRefundOfThree(t *testing.T) {"),
	step("call_2", "read_file", `{"path": "shop/refund.go"}`,
		"11: func Split(total int64, seats int) []int64 {\n12: \tshares := make([]int64, seats)\n"+
			"13: \tshare := total / int64(seats)\n14: \tfor i := range shares {\n15: \t\tshares[i] = share\n16: \t}\n17: \treturn shares\n18: }"),
	step("call_3", "bash", `{"command": "go test -run Refund ./shop"}`,
		"--- FAIL: TestRefundOfThree (0.00s)\n    refund_test.go:24: refunded 999 of 1000 cents\nFAIL"),
}
