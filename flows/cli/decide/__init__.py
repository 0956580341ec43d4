"""Commands by which a person decides: approve, settle, resend, correct, forget and others."""
