"""Why a mutant survived, and which assertion would have killed it."""
