//! The columns that rows are read from, once for each table.

/// `SELECT` of the whole row of a table, with what follows `FROM`.
macro_rules! select {
    (account $rest:literal) => {
        concat!(
            "SELECT user_id, username, email, user_group, enabled, must_change_password,
                    password_hash, token_version, failed_logins, delayed_until, locked,
                    last_login_at, last_login_address, created_at, created_by
               FROM account ",
            $rest
        )
    };
    (api_token $rest:literal) => {
        concat!(
            "SELECT token_id, user_id, name, secret_hash, created_at, created_by, expires_at
               FROM api_token ",
            $rest
        )
    };
    (cert_issuer $rest:literal) => {
        concat!(
            "SELECT cert_issuer_id, name, local_ca_id, profile_id, allow_dn_requests,
                    allow_csr_requests, allowed_generators, created_at, created_by, deleted_at
               FROM cert_issuer ",
            $rest
        )
    };
    // With the names of what it refers to.
    (certificate $rest:literal) => {
        concat!(
            "SELECT certificate.*, team.name AS team_name, cert_issuer.name AS cert_issuer_name
               FROM certificate
               LEFT JOIN team ON team.team_id = certificate.team_id
               LEFT JOIN cert_issuer ON cert_issuer.cert_issuer_id = certificate.cert_issuer_id ",
            $rest
        )
    };
    (cert_issuer_team $rest:literal) => {
        concat!("SELECT team_id, cert_issuer_id FROM cert_issuer_team ", $rest)
    };
    (history $rest:literal) => {
        concat!(
            "SELECT history_id, certificate_id, happened_at, event, details FROM history ",
            $rest
        )
    };
    (csr_generator $rest:literal) => {
        concat!(
            "SELECT csr_generator_id, name, key_algorithm, signature_algorithm, created_at,
                    created_by
               FROM csr_generator ",
            $rest
        )
    };
    (key_store $rest:literal) => {
        concat!(
            "SELECT key_store_id, name, token, created_at, created_by, deleted_at
               FROM key_store ",
            $rest
        )
    };
    (local_ca $rest:literal) => {
        concat!(
            "SELECT local_ca_id, name, key_store_id, parent_local_ca_id, key_id, signer_id,
                    subject_dn, definition, status, approval_id, certificate_id, created_at,
                    created_by, deleted_at, transition
               FROM local_ca ",
            $rest
        )
    };
    (membership $rest:literal) => {
        concat!("SELECT team_id, user_id FROM membership ", $rest)
    };
    (profile $rest:literal) => {
        concat!(
            "SELECT profile_id, name, definition, created_at, created_by FROM profile ",
            $rest
        )
    };
    (team $rest:literal) => {
        concat!(
            "SELECT team_id, name, description, internal_group, dont_send_emails_on_issue,
                    dont_send_reminder_emails, ip_white_list, created_at, created_by
               FROM team ",
            $rest
        )
    };
}
