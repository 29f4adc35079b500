"""Services that the app and the commands build on."""
