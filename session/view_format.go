package session

// ViewFormat is the version of the wording and shape of the views that this program draws. A change of either needs a new
// number: view tokens have it, so that a client that holds a view of an earlier program gets a whole one. Otherwise it
// would go on with a beginning that is drawn differently now, which costs the provider's prompt cache at some later
// request, and makes the thinking after it invalid.
//
// Earlier formats are not drawn any more. In format 1, words of tools could pass for the user's or the agent's.
const ViewFormat = 2

// FirstViewFormat is the format in the head of a log until a record changes its view.
const FirstViewFormat = 1
