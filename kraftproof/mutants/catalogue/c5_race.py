"""C5-race: createTopics is decided on the committed image, so a name may be created twice."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="C5-race",
    title="CreateTopics is decided on the committed image, so a name may be created twice",
    source="crabka#364 (TOCTOU); KAFKA-9751",
    expected="ControllerConforms",
    edits=(
        Edit(
            module="kraftproof.node.core.controller.active",
            old="""            image=self._image,
            config=self._config,""",
            new="""            image=self._committed.image if is_new else self._image,
            config=self._config,""",
        ),
        Edit(
            module="kraftproof.node.core.controller.active",
            old="        context = DecisionContext(",
            new="""        creation = create_topics_request.CreateTopicsRequest
        is_new = isinstance(event.message, creation)
        context = DecisionContext(""",
        ),
        Edit(
            module="kraftproof.node.core.controller.active",
            old="from kraftproof.node.wire.messages import Message, broker_heartbeat_request",
            new="""from kraftproof.node.wire.messages import (
    Message,
    broker_heartbeat_request,
    create_topics_request,
)""",
        ),
    ),
)
