"""The worlds that ship with meip, each written as a user could have written it. They know nothing of concepts, learners
or tasks; what they offer beyond a world's six members are hooks of `meip.model.world`."""
