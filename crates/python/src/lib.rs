//! Python bindings; nothing else lives here.
