"""List the error codes of an answer of the controller."""

from kraftproof.node.wire.messages import (
    Message,
    alter_client_quotas_response,
    alter_configs_response,
    alter_user_scram_credentials_response,
    create_acls_response,
    create_partitions_response,
    create_topics_response,
    delete_acls_response,
    delete_topics_response,
    incremental_alter_configs_response,
)


def error_codes(message: Message) -> frozenset[int] | None:
    """Return the distinct error codes of an answer; None for an answer without one."""
    match message:
        case create_topics_response.CreateTopicsResponse(topics=results):
            codes = frozenset(result.error_code for result in results)
        case (
            delete_topics_response.DeleteTopicsResponse(responses=results)
            | create_partitions_response.CreatePartitionsResponse(results=results)
            | create_acls_response.CreateAclsResponse(results=results)
            | delete_acls_response.DeleteAclsResponse(filter_results=results)
            | alter_configs_response.AlterConfigsResponse(responses=results)
            | alter_user_scram_credentials_response.AlterUserScramCredentialsResponse(
                results=results
            )
            | alter_client_quotas_response.AlterClientQuotasResponse(entries=results)
            | incremental_alter_configs_response.IncrementalAlterConfigsResponse(responses=results)
        ):
            codes = frozenset(result.error_code for result in results)
        case _:
            codes = frozenset({getattr(message, "error_code", 0)})
    return codes or None
