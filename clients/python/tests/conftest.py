"""What all tests share."""

pytest_plugins = ["daemons", "agents"]
