agentmutPage(document);
