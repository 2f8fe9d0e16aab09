// Types of the API's operations, written by `node bin/client-types.ts` from its OpenAPI document.

export type Error = { "error": string }
export type Conflict = { "error": string; "diagnostics"?: ({ "code": string; "message": string; "help": string; "field": string; "file": string; "line": number })[] }

export interface paths {
  '/api/v1/health': {
    /** Whether this node answers */
    get: {
      params: Record<string, never>
      query: Record<string, never>
      body: undefined
      answer: { "status": "ok" | "degraded" | "starting"; "reasons": ({ "code": string; "message": string })[] }
    }
  }
  '/api/v1/ready': {
    /** Whether this node can be used */
    get: {
      params: Record<string, never>
      query: Record<string, never>
      body: undefined
      answer: { "status": "ready"; "reasons": ({ "code": string; "message": string })[] }
    }
  }
  '/api/v1/auth/setup': {
    /** Create the first account, while there never was one */
    post: {
      params: Record<string, never>
      query: Record<string, never>
      body: { "email": string; "password": string; "setupCode"?: string }
      answer: { "id": string; "email": string; "displayName": string; "role": string; "tenantId": string; "authProvider": "password" | "oidc"; "totpEnabled": boolean; "createdAt": number; "updatedAt": number }
    }
  }
  '/api/v1/auth/login': {
    /** Begin a session */
    post: {
      params: Record<string, never>
      query: Record<string, never>
      body: { "email": string; "password": string; "totpCode"?: string }
      answer: { "token": string; "userId": string; "role": string; "expiresAt": number }
    }
  }
  '/api/v1/auth/logout': {
    /** End this session, on all nodes */
    post: {
      params: Record<string, never>
      query: { everywhere?: boolean }
      body: undefined
      answer: null
    }
  }
  '/api/v1/auth/me': {
    /** Who the credential stands for and what it may do */
    get: {
      params: Record<string, never>
      query: Record<string, never>
      body: undefined
      answer: { "kind": "system" | "user" | "tenant" | "dev"; "id": string | null; "email": string | null; "displayName": string | null; "role": string | null; "tenantId": string; "authProvider": string | null; "totpEnabled": boolean; "permissions": (string)[]; "isSystemAdmin": boolean; "unlicensed": ({ "feature": string; "reason": string })[] }
    }
  }
  '/api/v1/auth/config': {
    /** What the login page needs to know */
    get: {
      params: Record<string, never>
      query: Record<string, never>
      body: undefined
      answer: { "oidcEnabled": boolean; "setupOpen": boolean; "starting": boolean; "setupNeedsCode": boolean }
    }
  }
  '/api/v1/auth/totp/setup': {
    /** Begin the enrolment of an authenticator app */
    post: {
      params: Record<string, never>
      query: Record<string, never>
      body: undefined
      answer: { "secret": string; "uri": string; "qrCode": string }
    }
  }
  '/api/v1/auth/totp/verify': {
    /** Finish the enrolment with a code of the app */
    post: {
      params: Record<string, never>
      query: Record<string, never>
      body: { "code": string }
      answer: { "totpEnabled": true }
    }
  }
  '/api/v1/auth/oidc/authorize': {
    /** Send the browser to the identity provider */
    get: {
      params: Record<string, never>
      query: Record<string, never>
      body: undefined
      answer: null
    }
  }
  '/api/v1/auth/oidc/callback': {
    /** Begin a session for somebody who comes back from the identity provider */
    get: {
      params: Record<string, never>
      query: { code?: string; state?: string; iss?: string; error?: string; error_description?: string }
      body: undefined
      answer: null
    }
  }
  '/api/v1/users': {
    /** The accounts of the tenant, oldest first */
    get: {
      params: Record<string, never>
      query: Record<string, never>
      body: undefined
      answer: ({ "id": string; "email": string; "displayName": string; "role": string; "tenantId": string; "authProvider": "password" | "oidc"; "totpEnabled": boolean; "createdAt": number; "updatedAt": number })[]
    }
    /** Create an account that logs in with a password */
    post: {
      params: Record<string, never>
      query: Record<string, never>
      body: { "email": string; "displayName"?: string; "password": string; "role": string; "tenantId"?: string }
      answer: { "id": string; "email": string; "displayName": string; "role": string; "tenantId": string; "authProvider": "password" | "oidc"; "totpEnabled": boolean; "createdAt": number; "updatedAt": number }
    }
  }
  '/api/v1/users/{id}': {
    /** One account */
    get: {
      params: { id: string }
      query: Record<string, never>
      body: undefined
      answer: { "id": string; "email": string; "displayName": string; "role": string; "tenantId": string; "authProvider": "password" | "oidc"; "totpEnabled": boolean; "createdAt": number; "updatedAt": number }
    }
    /** Change an account; what is absent stays, but TOTP of others is cleared */
    put: {
      params: { id: string }
      query: Record<string, never>
      body: { "displayName"?: string; "role"?: string; "password"?: string }
      answer: { "id": string; "email": string; "displayName": string; "role": string; "tenantId": string; "authProvider": "password" | "oidc"; "totpEnabled": boolean; "createdAt": number; "updatedAt": number }
    }
    /** Delete an account and end its sessions */
    delete: {
      params: { id: string }
      query: Record<string, never>
      body: undefined
      answer: null
    }
  }
  '/api/v1/roles': {
    /** The built-in roles and the tenant's own */
    get: {
      params: Record<string, never>
      query: { name?: string }
      body: undefined
      answer: ({ "id": string; "name": string; "permissions": (string)[]; "isSystem": boolean; "tenantId": string | null; "createdAt": number; "updatedAt": number })[]
    }
    /** Create a role of the tenant (enterprise tier) */
    post: {
      params: Record<string, never>
      query: Record<string, never>
      body: { "name": string; "permissions": (string)[] }
      answer: { "id": string; "name": string; "permissions": (string)[]; "isSystem": boolean; "tenantId": string | null; "createdAt": number; "updatedAt": number }
    }
  }
  '/api/v1/roles/{id}': {
    /** One role */
    get: {
      params: { id: string }
      query: Record<string, never>
      body: undefined
      answer: { "id": string; "name": string; "permissions": (string)[]; "isSystem": boolean; "tenantId": string | null; "createdAt": number; "updatedAt": number }
    }
    /** Replace the permissions of a role */
    put: {
      params: { id: string }
      query: Record<string, never>
      body: { "permissions": (string)[] }
      answer: { "id": string; "name": string; "permissions": (string)[]; "isSystem": boolean; "tenantId": string | null; "createdAt": number; "updatedAt": number }
    }
    /** Delete a role that nobody has */
    delete: {
      params: { id: string }
      query: Record<string, never>
      body: undefined
      answer: null
    }
  }
  '/api/v1/tenants': {
    /** Create a tenant (enterprise tier); its API key is shown this once */
    post: {
      params: Record<string, never>
      query: { dryRun?: boolean }
      body: { "name": string; "rpsLimit"?: number }
      answer: { "tenant": { "id": string; "name": string; "rpsLimit": number; "createdAt": number }; "apiKey": string }
    }
    /** All tenants, without keys */
    get: {
      params: Record<string, never>
      query: { name?: string }
      body: undefined
      answer: ({ "id": string; "name": string; "rpsLimit": number; "createdAt": number })[]
    }
  }
  '/api/v1/tenants/{id}': {
    /** Remove the record of a tenant and end its key; what it owns stays */
    delete: {
      params: { id: string }
      query: { dryRun?: boolean }
      body: undefined
      answer: null
    }
  }
  '/api/v1/tenants/{id}/key': {
    /** Give a tenant a new API key, which is shown this once; the one before ends */
    post: {
      params: { id: string }
      query: Record<string, never>
      body: undefined
      answer: { "apiKey": string }
    }
    /** End the API key of a tenant, also where a commit has deleted the tenant */
    delete: {
      params: { id: string }
      query: Record<string, never>
      body: undefined
      answer: null
    }
  }
  '/api/v1/pools': {
    /** Create a pool without members; its name is unique across tenants */
    post: {
      params: Record<string, never>
      query: { dryRun?: boolean }
      body: { "name": string; "minHealthy"?: number; "answer"?: "addresses" | "cname" }
      answer: { "id": string; "name": string; "minHealthy": number; "answer"?: string }
    }
    /** All pools, by name */
    get: {
      params: Record<string, never>
      query: { limit?: number; cursor?: string; name?: string }
      body: undefined
      answer: ({ "id": string; "name": string; "minHealthy": number; "answer"?: string })[]
    }
  }
  '/api/v1/pools/{id}': {
    /** One pool */
    get: {
      params: { id: string }
      query: Record<string, never>
      body: undefined
      answer: { "id": string; "name": string; "minHealthy": number; "answer"?: string }
    }
    /** Rename a pool; its services, rollouts and windows follow, other fields stay */
    put: {
      params: { id: string }
      query: { dryRun?: boolean }
      body: { "name": string; "minHealthy"?: number; "answer"?: "addresses" | "cname" }
      answer: { "id": string; "name": string; "minHealthy": number; "answer"?: string }
    }
    /** Change the named fields of a pool; null takes a field back to its default */
    patch: {
      params: { id: string }
      query: { dryRun?: boolean }
      body: { "name"?: string; "minHealthy"?: number | null; "answer"?: "addresses" | "cname" | null }
      answer: { "id": string; "name": string; "minHealthy": number; "answer"?: string }
    }
    /** Delete a pool, its members, health check, geo rules, rollouts and windows */
    delete: {
      params: { id: string }
      query: { dryRun?: boolean }
      body: undefined
      answer: null
    }
  }
  '/api/v1/pools/{id}/members': {
    /** Add a member to a pool */
    post: {
      params: { id: string }
      query: { dryRun?: boolean }
      body: { "ipAddress"?: string; "hostname"?: string; "from"?: string; "port": number; "weight"?: number; "priority"?: number; "name"?: string; "region"?: string; "provider"?: string; "site"?: string; "capacity"?: number; "warmupThreshold"?: number; "rumUrl"?: string; "externalSignalMode"?: "and" | "or" | "override" | "" }
      answer: { "id": string; "poolId": string; "name": string; "ipAddress": string; "hostname"?: string; "from"?: string; "port": number; "weight": number; "priority": number; "enabled": boolean; "region": string; "provider": string; "site": string; "capacity": number; "warmupThreshold": number; "rumUrl": string; "externalSignalMode": string; "declaredWeight": number; "declaredEnabled": boolean; "heldBy": { "kind": "rollout" | "window"; "id": string; "name": string } | null }
    }
    /** The members of a pool, in the order of its file */
    get: {
      params: { id: string }
      query: { limit?: number; cursor?: string }
      body: undefined
      answer: ({ "id": string; "poolId": string; "name": string; "ipAddress": string; "hostname"?: string; "from"?: string; "port": number; "weight": number; "priority": number; "enabled": boolean; "region": string; "provider": string; "site": string; "capacity": number; "warmupThreshold": number; "rumUrl": string; "externalSignalMode": string; "declaredWeight": number; "declaredEnabled": boolean; "heldBy": { "kind": "rollout" | "window"; "id": string; "name": string } | null })[]
    }
  }
  '/api/v1/members/{id}': {
    /** One member */
    get: {
      params: { id: string }
      query: Record<string, never>
      body: undefined
      answer: { "id": string; "poolId": string; "name": string; "ipAddress": string; "hostname"?: string; "from"?: string; "port": number; "weight": number; "priority": number; "enabled": boolean; "region": string; "provider": string; "site": string; "capacity": number; "warmupThreshold": number; "rumUrl": string; "externalSignalMode": string; "declaredWeight": number; "declaredEnabled": boolean; "heldBy": { "kind": "rollout" | "window"; "id": string; "name": string } | null }
    }
    /** Change the named fields of a member; address and port are its identity and stay */
    put: {
      params: { id: string }
      query: { dryRun?: boolean }
      body: { "weight"?: number; "priority"?: number; "name"?: string; "region"?: string; "provider"?: string; "site"?: string; "capacity"?: number; "warmupThreshold"?: number; "rumUrl"?: string; "externalSignalMode"?: "and" | "or" | "override" | ""; "enabled"?: boolean }
      answer: { "id": string; "poolId": string; "name": string; "ipAddress": string; "hostname"?: string; "from"?: string; "port": number; "weight": number; "priority": number; "enabled": boolean; "region": string; "provider": string; "site": string; "capacity": number; "warmupThreshold": number; "rumUrl": string; "externalSignalMode": string; "declaredWeight": number; "declaredEnabled": boolean; "heldBy": { "kind": "rollout" | "window"; "id": string; "name": string } | null }
    }
    /** Change the named fields of a member; null takes a field back to its default */
    patch: {
      params: { id: string }
      query: { dryRun?: boolean }
      body: { "ipAddress"?: string; "hostname"?: string; "from"?: string; "port"?: number; "weight"?: number | null; "priority"?: number | null; "name"?: string | null; "region"?: string | null; "provider"?: string | null; "site"?: string | null; "capacity"?: number | null; "warmupThreshold"?: number | null; "rumUrl"?: string | null; "externalSignalMode"?: "and" | "or" | "override" | "" | null; "enabled"?: boolean | null }
      answer: { "id": string; "poolId": string; "name": string; "ipAddress": string; "hostname"?: string; "from"?: string; "port": number; "weight": number; "priority": number; "enabled": boolean; "region": string; "provider": string; "site": string; "capacity": number; "warmupThreshold": number; "rumUrl": string; "externalSignalMode": string; "declaredWeight": number; "declaredEnabled": boolean; "heldBy": { "kind": "rollout" | "window"; "id": string; "name": string } | null }
    }
    /** Delete a member, with the geo rules, rollouts and windows that name it */
    delete: {
      params: { id: string }
      query: { dryRun?: boolean }
      body: undefined
      answer: null
    }
  }
  '/api/v1/services': {
    /** Create a service; name and domain are unique across tenants */
    post: {
      params: Record<string, never>
      query: { dryRun?: boolean }
      body: { "name": string; "domain": string; "algorithm"?: "round-robin" | "weighted-round-robin" | "wrr" | "weighted_rr" | "failover" | "geo-ip" | "geoip" | "map-file" | "mapfile" | "asn" | "latency" | ""; "ttl"?: number; "poolId"?: string | null; "filterChain"?: (string)[] | null; "onAllDown"?: string; "answerCount"?: number; "weakSpots"?: boolean }
      answer: { "id": string; "name": string; "domain": string; "algorithm": string; "ttl": number; "poolId": string | null; "filterChain": (string)[]; "onAllDown": string; "answerCount": number; "weakSpots": boolean }
    }
    /** All services, by name */
    get: {
      params: Record<string, never>
      query: { limit?: number; cursor?: string; name?: string }
      body: undefined
      answer: ({ "id": string; "name": string; "domain": string; "algorithm": string; "ttl": number; "poolId": string | null; "filterChain": (string)[]; "onAllDown": string; "answerCount": number; "weakSpots": boolean })[]
    }
  }
  '/api/v1/services/{id}': {
    /** One service */
    get: {
      params: { id: string }
      query: Record<string, never>
      body: undefined
      answer: { "id": string; "name": string; "domain": string; "algorithm": string; "ttl": number; "poolId": string | null; "filterChain": (string)[]; "onAllDown": string; "answerCount": number; "weakSpots": boolean }
    }
    /** Replace a service; a field that is left out goes back to its default */
    put: {
      params: { id: string }
      query: { dryRun?: boolean }
      body: { "name": string; "domain": string; "algorithm"?: "round-robin" | "weighted-round-robin" | "wrr" | "weighted_rr" | "failover" | "geo-ip" | "geoip" | "map-file" | "mapfile" | "asn" | "latency" | ""; "ttl"?: number; "poolId"?: string | null; "filterChain"?: (string)[] | null; "onAllDown"?: string; "answerCount"?: number; "weakSpots"?: boolean }
      answer: { "id": string; "name": string; "domain": string; "algorithm": string; "ttl": number; "poolId": string | null; "filterChain": (string)[]; "onAllDown": string; "answerCount": number; "weakSpots": boolean }
    }
    /** Change the named fields of a service; null takes a field back to its default */
    patch: {
      params: { id: string }
      query: { dryRun?: boolean }
      body: { "name"?: string; "domain"?: string; "algorithm"?: "round-robin" | "weighted-round-robin" | "wrr" | "weighted_rr" | "failover" | "geo-ip" | "geoip" | "map-file" | "mapfile" | "asn" | "latency" | "" | null; "ttl"?: number | null; "poolId"?: string | null; "filterChain"?: (string)[] | null; "onAllDown"?: string | null; "answerCount"?: number | null; "weakSpots"?: boolean | null }
      answer: { "id": string; "name": string; "domain": string; "algorithm": string; "ttl": number; "poolId": string | null; "filterChain": (string)[]; "onAllDown": string; "answerCount": number; "weakSpots": boolean }
    }
    /** Delete a service; its name is no longer answered */
    delete: {
      params: { id: string }
      query: { dryRun?: boolean }
      body: undefined
      answer: null
    }
  }
  '/api/v1/records': {
    /** Create the records of one name and type, in a file of their own */
    post: {
      params: Record<string, never>
      query: { dryRun?: boolean }
      body: { "zone": string; "name": string; "type": string; "ttl"?: number; "values": (string)[] }
      answer: { "id": string; "zone": string; "name": string; "type": string; "ttl": number; "values": (string)[] }
    }
    /** All record sets, or those of one zone, name or type, by name */
    get: {
      params: Record<string, never>
      query: { limit?: number; cursor?: string; name?: string; zone?: string; type?: string }
      body: undefined
      answer: ({ "id": string; "zone": string; "name": string; "type": string; "ttl": number; "values": (string)[] })[]
    }
  }
  '/api/v1/records/{id}': {
    /** One record set */
    get: {
      params: { id: string }
      query: Record<string, never>
      body: undefined
      answer: { "id": string; "zone": string; "name": string; "type": string; "ttl": number; "values": (string)[] }
    }
    /** Replace the values and the TTL of a record set; name and type stay */
    put: {
      params: { id: string }
      query: { dryRun?: boolean }
      body: { "zone"?: string; "name"?: string; "type"?: string; "ttl"?: number; "values": (string)[] }
      answer: { "id": string; "zone": string; "name": string; "type": string; "ttl": number; "values": (string)[] }
    }
    /** Change the named fields of a record set; null takes its TTL back to that of the file */
    patch: {
      params: { id: string }
      query: { dryRun?: boolean }
      body: { "zone"?: string; "name"?: string; "type"?: string; "ttl"?: number | null; "values"?: (string)[] }
      answer: { "id": string; "zone": string; "name": string; "type": string; "ttl": number; "values": (string)[] }
    }
    /** Delete a record set; a file goes with its last one */
    delete: {
      params: { id: string }
      query: { dryRun?: boolean }
      body: undefined
      answer: null
    }
  }
  '/api/v1/pools/{id}/healthcheck': {
    /** Set the health check of a pool, whole; zero values take their defaults */
    put: {
      params: { id: string }
      query: { dryRun?: boolean }
      body: { "type"?: "tcp" | "http" | "icmp" | "script" | "webhook" | "grpc" | "dns" | ""; "port"?: number; "intervalMs"?: number; "timeoutMs"?: number; "riseCount"?: number; "fallCount"?: number; "scoreWindow"?: number; "httpMethod"?: "GET" | "HEAD" | "OPTIONS" | "POST" | "PUT" | ""; "httpPath"?: string; "httpHost"?: string; "httpHeaders"?: Record<string, string>; "httpExpectedStatus"?: number; "httpExpectedStatuses"?: (number | string)[]; "httpContains"?: string; "tls"?: boolean; "insecureSkipVerify"?: boolean; "clientCertificate"?: string; "icmpCount"?: number; "scriptPath"?: string; "scriptContent"?: string; "webhookURL"?: string; "webhookMethod"?: "POST" | "GET" | ""; "grpcService"?: string; "dnsName"?: string; "dnsType"?: "A" | "AAAA" | "CNAME" | "MX" | "NS" | "PTR" | "SOA" | "TXT" | ""; "dnsRcode"?: "NOERROR" | "NXDOMAIN" | "REFUSED" | "SERVFAIL" | "NOTIMP" | "FORMERR" | ""; "dnsContains"?: string }
      answer: { "type": string; "port": number; "intervalMs": number; "timeoutMs": number; "riseCount": number; "fallCount": number; "scoreWindow": number; "httpMethod": string; "httpPath": string; "httpHost": string; "httpHeaders": Record<string, string>; "httpExpectedStatus": number; "httpExpectedStatuses": (number | string)[]; "httpContains": string; "tls": boolean; "insecureSkipVerify": boolean; "clientCertificate": string; "icmpCount": number; "scriptPath": string; "scriptContent": string; "webhookURL": string; "webhookMethod": string; "grpcService": string; "dnsName": string; "dnsType": string; "dnsRcode": string; "dnsContains": string }
    }
    /** Change the named fields of a health check; null takes a field back to its default */
    patch: {
      params: { id: string }
      query: { dryRun?: boolean }
      body: { "type"?: "tcp" | "http" | "icmp" | "script" | "webhook" | "grpc" | "dns" | "" | null; "port"?: number | null; "intervalMs"?: number | null; "timeoutMs"?: number | null; "riseCount"?: number | null; "fallCount"?: number | null; "scoreWindow"?: number | null; "httpMethod"?: "GET" | "HEAD" | "OPTIONS" | "POST" | "PUT" | "" | null; "httpPath"?: string | null; "httpHost"?: string | null; "httpHeaders"?: Record<string, string | null> | null; "httpExpectedStatus"?: number | null; "httpExpectedStatuses"?: (number | string)[] | null; "httpContains"?: string | null; "tls"?: boolean | null; "insecureSkipVerify"?: boolean | null; "clientCertificate"?: string | null; "icmpCount"?: number | null; "scriptPath"?: string | null; "scriptContent"?: string | null; "webhookURL"?: string | null; "webhookMethod"?: "POST" | "GET" | "" | null; "grpcService"?: string | null; "dnsName"?: string | null; "dnsType"?: "A" | "AAAA" | "CNAME" | "MX" | "NS" | "PTR" | "SOA" | "TXT" | "" | null; "dnsRcode"?: "NOERROR" | "NXDOMAIN" | "REFUSED" | "SERVFAIL" | "NOTIMP" | "FORMERR" | "" | null; "dnsContains"?: string | null }
      answer: { "type": string; "port": number; "intervalMs": number; "timeoutMs": number; "riseCount": number; "fallCount": number; "scoreWindow": number; "httpMethod": string; "httpPath": string; "httpHost": string; "httpHeaders": Record<string, string>; "httpExpectedStatus": number; "httpExpectedStatuses": (number | string)[]; "httpContains": string; "tls": boolean; "insecureSkipVerify": boolean; "clientCertificate": string; "icmpCount": number; "scriptPath": string; "scriptContent": string; "webhookURL": string; "webhookMethod": string; "grpcService": string; "dnsName": string; "dnsType": string; "dnsRcode": string; "dnsContains": string }
    }
    /** The health check of a pool */
    get: {
      params: { id: string }
      query: Record<string, never>
      body: undefined
      answer: { "type": string; "port": number; "intervalMs": number; "timeoutMs": number; "riseCount": number; "fallCount": number; "scoreWindow": number; "httpMethod": string; "httpPath": string; "httpHost": string; "httpHeaders": Record<string, string>; "httpExpectedStatus": number; "httpExpectedStatuses": (number | string)[]; "httpContains": string; "tls": boolean; "insecureSkipVerify": boolean; "clientCertificate": string; "icmpCount": number; "scriptPath": string; "scriptContent": string; "webhookURL": string; "webhookMethod": string; "grpcService": string; "dnsName": string; "dnsType": string; "dnsRcode": string; "dnsContains": string }
    }
    /** Delete the health check of a pool: all its members count as healthy */
    delete: {
      params: { id: string }
      query: { dryRun?: boolean }
      body: undefined
      answer: null
    }
  }
  '/api/v1/pools/{poolId}/georules': {
    /** The geo rules of a pool, in the order of its file */
    get: {
      params: { poolId: string }
      query: { limit?: number; cursor?: string }
      body: undefined
      answer: ({ "id": string; "poolId": string; "cidr": string; "endpoint": string; "priority": number; "createdAt": number; "updatedAt": number })[]
    }
    /** Send the clients of one network to one member (tier pro) */
    post: {
      params: { poolId: string }
      query: { dryRun?: boolean }
      body: { "cidr": string; "endpoint": string; "priority"?: number }
      answer: { "id": string; "poolId": string; "cidr": string; "endpoint": string; "priority": number; "createdAt": number; "updatedAt": number }
    }
  }
  '/api/v1/georules/{id}': {
    /** Replace a geo rule (tier pro) */
    put: {
      params: { id: string }
      query: { dryRun?: boolean }
      body: { "cidr": string; "endpoint": string; "priority": number }
      answer: { "id": string; "poolId": string; "cidr": string; "endpoint": string; "priority": number; "createdAt": number; "updatedAt": number }
    }
    /** Delete a geo rule */
    delete: {
      params: { id: string }
      query: { dryRun?: boolean }
      body: undefined
      answer: null
    }
  }
  '/api/v1/pools/{id}/status': {
    /** The health of the members of a pool, by address */
    get: {
      params: { id: string }
      query: Record<string, never>
      body: undefined
      answer: { "poolId": string; "members": Record<string, { "healthy": boolean; "probed": boolean; "score": number; "reason": string; "since": number; "lastCheck": number; "rttMs": number; "globalRttMs"?: number; "warming"?: boolean; "warmupPasses"?: number; "warmupThreshold"?: number; "resolved"?: ({ "address": string; "healthy": boolean })[]; "resolvedAt"?: number; "resolveError"?: string; "healthyNodes": number; "totalNodes": number; "nodes": ({ "node": string; "healthy": boolean; "score": number; "reason": string; "since": number })[]; "weight": number; "enabled": boolean; "declaredWeight": number; "declaredEnabled": boolean; "heldBy": { "kind": "rollout" | "window"; "id": string; "name": string } | null }> }
    }
  }
  '/api/v1/members/{id}/status': {
    /** The health of one member */
    get: {
      params: { id: string }
      query: Record<string, never>
      body: undefined
      answer: { "healthy": boolean; "probed": boolean; "score": number; "reason": string; "since": number; "lastCheck": number; "rttMs": number; "globalRttMs"?: number; "warming"?: boolean; "warmupPasses"?: number; "warmupThreshold"?: number; "resolved"?: ({ "address": string; "healthy": boolean })[]; "resolvedAt"?: number; "resolveError"?: string; "healthyNodes": number; "totalNodes": number; "nodes": ({ "node": string; "healthy": boolean; "score": number; "reason": string; "since": number })[]; "weight": number; "enabled": boolean; "declaredWeight": number; "declaredEnabled": boolean; "heldBy": { "kind": "rollout" | "window"; "id": string; "name": string } | null }
    }
  }
  '/api/v1/health/members': {
    /** The health by which this node answers, of all members that are not simply well */
    get: {
      params: Record<string, never>
      query: Record<string, never>
      body: undefined
      answer: Record<string, { "healthy": boolean; "score": number; "rttMs": number }>
    }
  }
  '/api/v1/dashboard/stats': {
    /** The numbers of the caller's tenant; of all tenants for a system administrator */
    get: {
      params: Record<string, never>
      query: Record<string, never>
      body: undefined
      answer: { "totalPools": number; "totalMembers": number; "healthyMembers": number; "unhealthyMembers": number; "unprobedMembers": number; "totalServices": number; "totalGeoRules": number; "uptimeSeconds": number; "webSocketClients": number }
    }
  }
  '/api/v1/snapshot': {
    /** Everything of the caller's tenant; of all tenants for a system administrator */
    get: {
      params: Record<string, never>
      query: Record<string, never>
      body: undefined
      answer: { "pools": ({ "id": string; "name": string; "minHealthy": number; "answer"?: string })[]; "members": Record<string, ({ "id": string; "poolId": string; "name": string; "ipAddress": string; "hostname"?: string; "from"?: string; "port": number; "weight": number; "priority": number; "enabled": boolean; "region": string; "provider": string; "site": string; "capacity": number; "warmupThreshold": number; "rumUrl": string; "externalSignalMode": string; "declaredWeight": number; "declaredEnabled": boolean; "heldBy": { "kind": "rollout" | "window"; "id": string; "name": string } | null })[]>; "services": ({ "id": string; "name": string; "domain": string; "algorithm": string; "ttl": number; "poolId": string | null; "filterChain": (string)[]; "onAllDown": string; "answerCount": number; "weakSpots": boolean })[]; "healthStatus": Record<string, Record<string, { "healthy": boolean; "probed": boolean; "score": number; "reason": string; "since": number; "lastChecked": number }>>; "geoRules": Record<string, ({ "id": string; "poolId": string; "cidr": string; "endpoint": string; "priority": number; "createdAt": number; "updatedAt": number })[]>; "stats": { "totalPools": number; "totalMembers": number; "healthyMembers": number; "unhealthyMembers": number; "unprobedMembers": number; "totalServices": number; "totalGeoRules": number; "uptimeSeconds": number; "webSocketClients": number }; "timestamp": number }
    }
  }
  '/api/v1/members/{id}/health-signal': {
    /** Say whether a member is healthy, natively or in the words of a monitor */
    post: {
      params: { id: string }
      query: { format?: "vendor_a" | "vendor_b" | "generic" }
      body: { "source": string; "healthy": boolean; "score"?: number | null; "ttl"?: number } | { "source"?: string; "healthy": boolean; "score"?: number | null; "ttl"?: number } | { "AlarmName": string; "NewStateValue": string } | { "title": string; "alert_transition"?: string; "alert_type"?: string }
      answer: { "source": string; "healthy": boolean; "score": number | null; "postedAt": number; "expiresAt": number }
    }
  }
  '/api/v1/members/{id}/health-signals': {
    /** The unexpired signals of a member, by source */
    get: {
      params: { id: string }
      query: Record<string, never>
      body: undefined
      answer: ({ "source": string; "healthy": boolean; "score": number | null; "postedAt": number; "expiresAt": number })[]
    }
  }
  '/api/v1/maintenance-windows': {
    /** Take a member, or each member of a pool, out of rotation for a time */
    post: {
      params: Record<string, never>
      query: { dryRun?: boolean }
      body: { "resourceType": "member" | "pool"; "resourceId": string; "startAt": string; "endAt": string }
      answer: { "id": string; "resourceType": string; "resourceId": string; "startAt": string; "endAt": string; "status": "scheduled" | "active" | "completed"; "memberIds": (string)[] }
    }
    /** All maintenance windows, by name */
    get: {
      params: Record<string, never>
      query: { limit?: number; cursor?: string; name?: string }
      body: undefined
      answer: ({ "id": string; "resourceType": string; "resourceId": string; "startAt": string; "endAt": string; "status": "scheduled" | "active" | "completed"; "memberIds": (string)[] })[]
    }
  }
  '/api/v1/maintenance-windows/{id}': {
    /** Cancel a window; the members of an active one are disabled from then on */
    delete: {
      params: { id: string }
      query: { dryRun?: boolean }
      body: undefined
      answer: null
    }
  }
  '/api/v1/rollouts': {
    /** All rollouts, by name */
    get: {
      params: Record<string, never>
      query: { limit?: number; cursor?: string; name?: string }
      body: undefined
      answer: ({ "id": string; "poolId": string; "memberId": string; "state": "pending" | "running" | "paused" | "promoted" | "rolled_back"; "currentStep": number; "weight": number; "baseWeight": number; "reason": string; "baselineRttMs": number | null; "startAt": string; "settledAt": string | null; "steps": ({ "weightPct": number; "holdSeconds": number })[]; "regressionPolicy": { "minHealthScore": number; "minHealthyMembers": number; "maxRttDeltaMs": number } })[]
    }
    /** Begin a timed ramp of a member's weight (tier pro) */
    post: {
      params: Record<string, never>
      query: { dryRun?: boolean }
      body: { "memberId": string; "steps": ({ "weightPct": number; "holdSeconds": number })[]; "regressionPolicy"?: { "minHealthScore"?: number; "minHealthyMembers"?: number; "maxRttDeltaMs"?: number } }
      answer: { "id": string; "poolId": string; "memberId": string; "state": "pending" | "running" | "paused" | "promoted" | "rolled_back"; "currentStep": number; "weight": number; "baseWeight": number; "reason": string; "baselineRttMs": number | null; "startAt": string; "settledAt": string | null; "steps": ({ "weightPct": number; "holdSeconds": number })[]; "regressionPolicy": { "minHealthScore": number; "minHealthyMembers": number; "maxRttDeltaMs": number } }
    }
  }
  '/api/v1/rollouts/{id}': {
    /** One rollout */
    get: {
      params: { id: string }
      query: Record<string, never>
      body: undefined
      answer: { "id": string; "poolId": string; "memberId": string; "state": "pending" | "running" | "paused" | "promoted" | "rolled_back"; "currentStep": number; "weight": number; "baseWeight": number; "reason": string; "baselineRttMs": number | null; "startAt": string; "settledAt": string | null; "steps": ({ "weightPct": number; "holdSeconds": number })[]; "regressionPolicy": { "minHealthScore": number; "minHealthyMembers": number; "maxRttDeltaMs": number } }
    }
  }
  '/api/v1/rollouts/{id}/pause': {
    /** Hold the current weight of a running rollout */
    post: {
      params: { id: string }
      query: { dryRun?: boolean }
      body: undefined
      answer: { "id": string; "poolId": string; "memberId": string; "state": "pending" | "running" | "paused" | "promoted" | "rolled_back"; "currentStep": number; "weight": number; "baseWeight": number; "reason": string; "baselineRttMs": number | null; "startAt": string; "settledAt": string | null; "steps": ({ "weightPct": number; "holdSeconds": number })[]; "regressionPolicy": { "minHealthScore": number; "minHealthyMembers": number; "maxRttDeltaMs": number } }
    }
  }
  '/api/v1/rollouts/{id}/promote': {
    /** Jump to the weight of the last step */
    post: {
      params: { id: string }
      query: { dryRun?: boolean }
      body: undefined
      answer: { "id": string; "poolId": string; "memberId": string; "state": "pending" | "running" | "paused" | "promoted" | "rolled_back"; "currentStep": number; "weight": number; "baseWeight": number; "reason": string; "baselineRttMs": number | null; "startAt": string; "settledAt": string | null; "steps": ({ "weightPct": number; "holdSeconds": number })[]; "regressionPolicy": { "minHealthScore": number; "minHealthyMembers": number; "maxRttDeltaMs": number } }
    }
  }
  '/api/v1/rollouts/{id}/abort': {
    /** Restore the weight from before the rollout */
    post: {
      params: { id: string }
      query: { dryRun?: boolean }
      body: undefined
      answer: { "id": string; "poolId": string; "memberId": string; "state": "pending" | "running" | "paused" | "promoted" | "rolled_back"; "currentStep": number; "weight": number; "baseWeight": number; "reason": string; "baselineRttMs": number | null; "startAt": string; "settledAt": string | null; "steps": ({ "weightPct": number; "holdSeconds": number })[]; "regressionPolicy": { "minHealthScore": number; "minHealthyMembers": number; "maxRttDeltaMs": number } }
    }
  }
  '/api/v1/rpz/rules': {
    /** All response rules, in the order of their files, with their hits on all nodes */
    get: {
      params: Record<string, never>
      query: { limit?: number; cursor?: string }
      body: undefined
      answer: ({ "id": string; "triggerType": string; "triggerValue": string; "action": string; "actionTarget": string; "signed": boolean; "source": string; "hitCount": number })[]
    }
    /** Add a response rule (tier pro) */
    post: {
      params: Record<string, never>
      query: { dryRun?: boolean }
      body: { "triggerType": "exact" | "domain"; "triggerValue": string; "action": "nxdomain" | "passthru" | "cname"; "actionTarget"?: string; "signed"?: boolean; "source"?: string }
      answer: { "id": string; "triggerType": string; "triggerValue": string; "action": string; "actionTarget": string; "signed": boolean; "source": string; "hitCount": number }
    }
  }
  '/api/v1/rpz/rules/{id}': {
    /** Delete a response rule; a policy goes with its last one */
    delete: {
      params: { id: string }
      query: { dryRun?: boolean }
      body: undefined
      answer: null
    }
  }
  '/api/v1/rrl/allowlist': {
    /** Networks of clients that no node limits, in the order of gslb.yaml */
    get: {
      params: Record<string, never>
      query: { limit?: number; cursor?: string }
      body: undefined
      answer: ({ "id": string; "cidr": string; "comment": string })[]
    }
    /** Add a network that no node limits, by a commit */
    post: {
      params: Record<string, never>
      query: { dryRun?: boolean }
      body: { "cidr": string; "comment"?: string }
      answer: { "id": string; "cidr": string; "comment": string }
    }
  }
  '/api/v1/rrl/allowlist/{id}': {
    /** Remove a network from the list: its clients are limited as all others */
    delete: {
      params: { id: string }
      query: { dryRun?: boolean }
      body: undefined
      answer: null
    }
  }
  '/api/v1/dnssec/zones': {
    /** Signed zones by name, with their keys and what they wait for */
    get: {
      params: Record<string, never>
      query: Record<string, never>
      body: undefined
      answer: ({ "zone": string; "keys": ({ "id": string; "tag": number; "algorithm": string; "role": string; "flags": number; "state": string; "signsRecords": boolean; "signsKeys": boolean; "inCds": boolean; "hasPrivateKey": boolean; "dnskey": string; "ds": (string)[]; "createdAt": number | null; "publishedAt": number | null; "activeAt": number | null; "dsSubmittedAt": number | null; "dsSeenAt": number | null; "dsSaidAt": number | null; "retiredAt": number | null; "removedAt": number | null })[]; "waiting": ({ "for": string; "tag": number; "message": string; "until": number | null })[]; "fault": string | null })[]
    }
  }
  '/api/v1/dnssec/zones/{zone}': {
    /** A signed zone: its keys, their DS records, and what they wait for */
    get: {
      params: { zone: string }
      query: Record<string, never>
      body: undefined
      answer: { "zone": string; "keys": ({ "id": string; "tag": number; "algorithm": string; "role": string; "flags": number; "state": string; "signsRecords": boolean; "signsKeys": boolean; "inCds": boolean; "hasPrivateKey": boolean; "dnskey": string; "ds": (string)[]; "createdAt": number | null; "publishedAt": number | null; "activeAt": number | null; "dsSubmittedAt": number | null; "dsSeenAt": number | null; "dsSaidAt": number | null; "retiredAt": number | null; "removedAt": number | null })[]; "waiting": ({ "for": string; "tag": number; "message": string; "until": number | null })[]; "fault": string | null }
    }
  }
  '/api/v1/dnssec/zones/{zone}/roll': {
    /** Begin a roll: new keys are made, and take over step by step */
    post: {
      params: { zone: string }
      query: Record<string, never>
      body: { "which"?: "all" | "csk" | "ksk" | "zsk"; "emergency"?: boolean }
      answer: { "zone": string; "keys": ({ "id": string; "tag": number; "algorithm": string; "role": string; "flags": number; "state": string; "signsRecords": boolean; "signsKeys": boolean; "inCds": boolean; "hasPrivateKey": boolean; "dnskey": string; "ds": (string)[]; "createdAt": number | null; "publishedAt": number | null; "activeAt": number | null; "dsSubmittedAt": number | null; "dsSeenAt": number | null; "dsSaidAt": number | null; "retiredAt": number | null; "removedAt": number | null })[]; "waiting": ({ "for": string; "tag": number; "message": string; "until": number | null })[]; "fault": string | null }
    }
  }
  '/api/v1/dnssec/zones/{zone}/ds-seen': {
    /** Say that the parent has the DS of a key, where this node cannot ask it */
    post: {
      params: { zone: string }
      query: Record<string, never>
      body: { "tag": number }
      answer: { "zone": string; "keys": ({ "id": string; "tag": number; "algorithm": string; "role": string; "flags": number; "state": string; "signsRecords": boolean; "signsKeys": boolean; "inCds": boolean; "hasPrivateKey": boolean; "dnskey": string; "ds": (string)[]; "createdAt": number | null; "publishedAt": number | null; "activeAt": number | null; "dsSubmittedAt": number | null; "dsSeenAt": number | null; "dsSaidAt": number | null; "retiredAt": number | null; "removedAt": number | null })[]; "waiting": ({ "for": string; "tag": number; "message": string; "until": number | null })[]; "fault": string | null }
    }
  }
  '/api/v1/dnssec/zones/{zone}/keys': {
    /** Import a key of another server: it signs from now on, or takes over by a roll */
    post: {
      params: { zone: string }
      query: Record<string, never>
      body: { "record": string; "privateKey"?: string }
      answer: { "id": string; "tag": number; "algorithm": string; "role": string; "flags": number; "state": string; "signsRecords": boolean; "signsKeys": boolean; "inCds": boolean; "hasPrivateKey": boolean; "dnskey": string; "ds": (string)[]; "createdAt": number | null; "publishedAt": number | null; "activeAt": number | null; "dsSubmittedAt": number | null; "dsSeenAt": number | null; "dsSaidAt": number | null; "retiredAt": number | null; "removedAt": number | null }
    }
  }
  '/api/v1/dnssec/zones/{zone}/keys/{id}': {
    /** Remove a key that is out of its zone, or another server's; one in use is 409 */
    delete: {
      params: { zone: string; id: string }
      query: Record<string, never>
      body: undefined
      answer: null
    }
  }
  '/api/v1/acme/certificates': {
    /** The certificates of the ACME server, and how the next ones do */
    get: {
      params: Record<string, never>
      query: Record<string, never>
      body: undefined
      answer: ({ "entry": string | null; "directory": string; "names": (string)[]; "certificate": { "names": (string)[]; "notBefore": number; "notAfter": number; "renewAt": number; "suggested": { "from": number; "to": number; "why": string | null } | null } | null; "isOrdering": boolean; "failure": { "code": string; "message": string; "count": number; "at": number; "next": number } | null; "clockOffsetSeconds": number | null; "fault": string | null })[]
    }
  }
  '/acme-dns/register': {
    /** A name and a key for one ACME client, as acme-dns gives them */
    post: {
      params: Record<string, never>
      query: Record<string, never>
      body: { "allowfrom"?: (string)[] | null }
      answer: { "username": string; "password": string; "fulldomain": string; "subdomain": string; "allowfrom": (string)[] }
    }
  }
  '/acme-dns/update': {
    /** Sets a TXT value of the name of a key; the two newest stay */
    post: {
      params: Record<string, never>
      query: Record<string, never>
      body: { "subdomain": string; "txt": string }
      answer: { "txt": string }
    }
  }
  '/acme-dns/health': {
    /** Whether the endpoint is on */
    get: {
      params: Record<string, never>
      query: Record<string, never>
      body: undefined
      answer: Record<string, unknown>
    }
  }
  '/api/v1/acme-dns/keys': {
    /** Keys of the acme-dns endpoint by name, without their passwords */
    get: {
      params: Record<string, never>
      query: { limit?: number; cursor?: string; name?: string }
      body: undefined
      answer: ({ "id": string; "tenantId": string; "name": string; "allowFrom": (string)[]; "createdAt": number })[]
    }
  }
  '/api/v1/acme-dns/keys/{id}': {
    /** Delete a key of the acme-dns endpoint, with the TXT values that it has set */
    delete: {
      params: { id: string }
      query: Record<string, never>
      body: undefined
      answer: null
    }
  }
  '/api/v1/redirects': {
    /** All redirects, by name, with their hits on all nodes */
    get: {
      params: Record<string, never>
      query: { limit?: number; cursor?: string; name?: string }
      body: undefined
      answer: ({ "id": string; "tenantId": string; "sourceFqdn": string; "targetUrl": string; "code": number; "preservePath": boolean; "hstsMaxAge": number; "hstsIncludeSubDomains": boolean; "createdAt": number; "hitCount": number })[]
    }
    /** Send the browsers of a host elsewhere (tier paid) */
    post: {
      params: Record<string, never>
      query: { dryRun?: boolean }
      body: { "sourceFqdn": string; "targetUrl": string; "code"?: number; "preservePath"?: boolean; "hstsMaxAge"?: number; "hstsIncludeSubDomains"?: boolean }
      answer: { "id": string; "tenantId": string; "sourceFqdn": string; "targetUrl": string; "code": number; "preservePath": boolean; "hstsMaxAge": number; "hstsIncludeSubDomains": boolean; "createdAt": number; "hitCount": number }
    }
  }
  '/api/v1/redirects/{id}': {
    /** Delete a redirect */
    delete: {
      params: { id: string }
      query: { dryRun?: boolean }
      body: undefined
      answer: null
    }
  }
  '/api/v1/domains': {
    /** All delegated domains, with what their last check found */
    get: {
      params: Record<string, never>
      query: { limit?: number; cursor?: string; name?: string }
      body: undefined
      answer: ({ "id": string; "tenantId": string; "domain": string; "verified": boolean; "nsOk": boolean; "dsOk": boolean; "dsExpected": boolean; "lastVerifiedAt": number | null; "verificationError": string; "checks": ({ "role": string; "server": string; "address": string; "ns": (string)[]; "ds": (string)[]; "code": string; "error": string; "at": number })[]; "createdAt": number })[]
    }
    /** Register a delegated domain */
    post: {
      params: Record<string, never>
      query: { dryRun?: boolean }
      body: { "domain": string }
      answer: { "id": string; "tenantId": string; "domain": string; "verified": boolean; "nsOk": boolean; "dsOk": boolean; "dsExpected": boolean; "lastVerifiedAt": number | null; "verificationError": string; "checks": ({ "role": string; "server": string; "address": string; "ns": (string)[]; "ds": (string)[]; "code": string; "error": string; "at": number })[]; "createdAt": number }
    }
  }
  '/api/v1/domains/{id}/verify': {
    /** Check a delegated domain now */
    post: {
      params: { id: string }
      query: Record<string, never>
      body: undefined
      answer: { "id": string; "tenantId": string; "domain": string; "verified": boolean; "nsOk": boolean; "dsOk": boolean; "dsExpected": boolean; "lastVerifiedAt": number | null; "verificationError": string; "checks": ({ "role": string; "server": string; "address": string; "ns": (string)[]; "ds": (string)[]; "code": string; "error": string; "at": number })[]; "createdAt": number }
    }
  }
  '/api/v1/domains/{id}': {
    /** Delete a delegated domain; the records in its parent stay */
    delete: {
      params: { id: string }
      query: { dryRun?: boolean }
      body: undefined
      answer: null
    }
  }
  '/api/v1/history': {
    /** Commits of the accepted configuration that changed something of yours, newest first */
    get: {
      params: Record<string, never>
      query: { limit?: number; cursor?: string; object?: string; from?: number; to?: number }
      body: undefined
      answer: ({ "commit": string; "parent": string | null; "author": string; "time": number; "subject": string; "verdict": string; "code": string; "reason": string; "heldAt": number | null; "activeAt": number | null; "activeOn": ({ "node": string; "since": number })[]; "isActive": boolean; "isPartial": boolean; "objects": ({ "kind": string; "id": string; "tenantId": string; "name": string; "change": string })[] })[]
    }
  }
  '/api/v1/history/{commit}': {
    /** What a commit changed, object by object and field by field */
    get: {
      params: { commit: string }
      query: Record<string, never>
      body: undefined
      answer: { "commit": string; "parent": string | null; "author": string; "time": number; "subject": string; "verdict": string; "code": string; "reason": string; "heldAt": number | null; "activeAt": number | null; "activeOn": ({ "node": string; "since": number })[]; "isActive": boolean; "isPartial": boolean; "objects": ({ "kind": string; "id": string; "tenantId": string; "name": string; "change": string; "fields": ({ "field": string; "before"?: unknown; "after"?: unknown })[] })[] }
    }
  }
  '/api/v1/history/{commit}/revert': {
    /** Take back what a commit changed, in a new commit */
    post: {
      params: { commit: string }
      query: { dryRun?: boolean }
      body: undefined
      answer: { "commit": string; "reverts": string }
    }
  }
  '/api/v1/pools/{id}/history': {
    /** Commits that changed a pool, with its members, rules and health check */
    get: {
      params: { id: string }
      query: { limit?: number; cursor?: string }
      body: undefined
      answer: ({ "commit": string; "parent": string | null; "author": string; "time": number; "subject": string; "verdict": string; "code": string; "reason": string; "heldAt": number | null; "activeAt": number | null; "activeOn": ({ "node": string; "since": number })[]; "isActive": boolean; "isPartial": boolean; "objects": ({ "kind": string; "id": string; "tenantId": string; "name": string; "change": string })[] })[]
    }
  }
  '/api/v1/rum.js': {
    /** The beacon: a script for pages, which says by data-domain what to measure */
    get: {
      params: Record<string, never>
      query: Record<string, never>
      body: undefined
      answer: string
    }
  }
  '/api/v1/rum/config': {
    /** What a browser may measure for a domain; of many members some, others each time */
    get: {
      params: Record<string, never>
      query: { domain: string }
      body: undefined
      answer: { "domain": string; "targets": ({ "ip": string; "rumUrl": string })[] }
    }
  }
  '/api/v1/rum/ingest': {
    /** What a browser has measured; its network is that of the address it comes from */
    post: {
      params: Record<string, never>
      query: Record<string, never>
      body: { "domain": string; "samples": ({ "ip": string; "latencyMs": number })[] }
      answer: { "accepted": number; "rejected": number }
    }
  }
  '/api/v1/rum/status': {
    /** How much of what this node was told is fresh, about the members of the tenant */
    get: {
      params: Record<string, never>
      query: Record<string, never>
      body: undefined
      answer: { "subnets": number; "measurements": number; "members": ({ "memberId": string; "poolId": string; "ipAddress": string; "subnets": number })[] }
    }
  }
  '/api/v1/rum/networks': {
    /** From which networks browsers report to this node, about the members of the tenant */
    get: {
      params: Record<string, never>
      query: Record<string, never>
      body: undefined
      answer: { "sampled": number; "networks": Record<string, number> }
    }
  }
  '/api/v1/simulate': {
    /** What this node would answer to a query, and which step led to it */
    post: {
      params: Record<string, never>
      query: Record<string, never>
      body: { "name": string; "type"?: string; "client"?: string; "subnet"?: string; "at"?: string; "health"?: Record<string, boolean | { "healthy"?: boolean; "score"?: number; "rttMs"?: number }>; "node"?: string; "commit"?: string; "seed"?: number }
      answer: { "name": string; "type": string; "at": string; "seed": number; "node": string; "commit": string; "digest": string; "rcode": string; "rule": { "triggerType": string; "triggerValue": string; "action": string; "actionTarget": string; "source": string } | null; "zone": string | null; "match": "exact" | "wildcard" | "none"; "owner": string | null; "absent": string | null; "records": (string)[]; "scope": number | null; "signing": { "zone": string; "algorithm": string; "proof": "records" | "alias" | "no-such-name" | "no-data" | "delegation" | "nothing" | "nothing-at-cut" | "unknown" } | null; "service": { "name": string; "tenantId": string; "algorithm": string; "ttl": number; "pool": string | null; "fallback": string | null; "members": ({ "name": string; "ipAddress": string; "region": string; "weight": number; "priority": number; "score": number; "rttMs": number; "standing": "candidate" | "disabled" | "unhealthy" | "warming" | "maintenance" | "weight-0" | "below-min-healthy" })[]; "candidates": (string)[]; "geoRule": string | null; "steps": ({ "name": string; "before": (string)[]; "after": (string)[]; "reason": string; "scopeBits": number })[]; "picks": (string)[] } | null; "overlays": ({ "kind": string; "name": string; "pool": string; "state": string; "effect": string })[] }
    }
  }
  '/api/v1/simulate/clients/{country}': {
    /** A network of clients in a country, to simulate one of them */
    get: {
      params: { country: string }
      query: Record<string, never>
      body: undefined
      answer: { "country": string; "subnet": string }
    }
  }
  '/api/v1/explain/{code}': {
    /** What a code of a diagnostic, or of a commit that is not taken, means */
    get: {
      params: { code: string }
      query: Record<string, never>
      body: undefined
      answer: { "code": string; "severity": string; "message": string; "cause": string; "help": string; "bad": string; "good": string }
    }
  }
  '/api/v1/why': {
    /** What a node answered to a query at an instant of the past, and why */
    post: {
      params: Record<string, never>
      query: Record<string, never>
      body: { "name": string; "at": string; "type"?: string; "client"?: string; "subnet"?: string; "node"?: string }
      answer: { "name": string; "type": string; "at": string; "node": string; "commit": { "id": string; "author": string | null; "date": string | null; "subject": string | null } | null; "digest": string; "since": string | null; "bundleFrom": "the data directory" | "the commit, compiled again"; "isCertain": boolean; "shares": ({ "member": string; "pool": string; "probability": number })[]; "mayAnswer": (string)[]; "notes": (string)[]; "rcode": string; "rule": { "triggerType": string; "triggerValue": string; "action": string; "actionTarget": string; "source": string } | null; "zone": string | null; "match": "exact" | "wildcard" | "none"; "owner": string | null; "records": (string)[]; "scope": number | null; "signing": { "zone": string; "algorithm": string; "proof": "records" | "alias" | "no-such-name" | "no-data" | "delegation" | "nothing" | "nothing-at-cut" | "unknown" } | null; "service": { "name": string; "tenantId": string; "algorithm": string; "ttl": number; "pool": string | null; "fallback": string | null; "members": ({ "name": string; "ipAddress": string; "region": string; "weight": number; "priority": number; "score": number; "rttMs": number; "standing": "candidate" | "disabled" | "unhealthy" | "warming" | "maintenance" | "weight-0" | "below-min-healthy" })[]; "candidates": (string)[]; "geoRule": string | null; "steps": ({ "name": string; "before": (string)[]; "after": (string)[]; "reason": string; "scopeBits": number })[]; "picks": (string)[] } | null; "text": string }
    }
  }
  '/api/v1/pools/{id}/health-history': {
    /** The members of a pool over time: up, not probed, down or kept out, as nodes answered */
    get: {
      params: { id: string }
      query: { hours?: number; member?: string; node?: string }
      body: undefined
      answer: { "from": number; "to": number; "nodes": ({ "node": string; "members": ({ "memberId": string; "stretches": ({ "from": number; "to": number; "state": "up" | "unprobed" | "down" | "warming" | "maintenance" | "unresolved" | "disabled" | "absent" | "unknown"; "reason": string; "changes": number })[] })[] })[] }
    }
  }
  '/api/v1/plan': {
    /** Which clients would get another answer after writes, of which none is made */
    post: {
      params: Record<string, never>
      query: Record<string, never>
      body: { "requests": ({ "method": "POST" | "PUT" | "PATCH" | "DELETE"; "path": string; "body"?: unknown; "ifMatch"?: string })[]; "at"?: (string)[]; "health"?: "all-up" | "now"; "limit"?: number }
      answer: { "format": 1; "base": { "source": string; "commit": string; "digest": string }; "head": { "source": string; "commit": string; "digest": string }; "weights": { "by": "addresses" | "traffic"; "source": string; "seconds": number | null; "sampled": number | null }; "summary": { "names": number; "answers": number; "addedNames": number; "removedNames": number; "removedAnswers": number; "comparedNames": number; "movedMax": number; "movedMaxName": string; "movedMaxError": number; "laterChanges": number }; "scenarios": ({ "at": string; "health": "all-up" | "given"; "traffic": { "unit": "share" | "queries" | "queries-per-second"; "members": ({ "member": string; "pool": string; "region": string; "before": number; "after": number })[] }; "countries": ({ "place": string; "movedOfPlace": number; "name": string })[] | null; "changes": ({ "name": string; "type": string; "kind": "added" | "removed" | "changed"; "tenant": string; "before": { "rcode": string; "ttlSeconds": number | null; "policy": string; "records": (string)[]; "others": (string)[] }; "after": { "rcode": string; "ttlSeconds": number | null; "policy": string; "records": (string)[]; "others": (string)[] }; "movement": { "ipv4": { "moved": number; "differs": number; "error": number; "flows": ({ "from": { "member": string; "pool": string; "region": string }; "to": { "member": string; "pool": string; "region": string }; "share": number })[]; "members": ({ "member": string; "pool": string; "region": string; "before": number; "after": number })[]; "countries": ({ "place": string; "moved": number; "movedOfPlace": number })[] | null; "countriesOmitted": number; "operators": ({ "place": string; "moved": number; "movedOfPlace": number })[] | null; "operatorsOmitted": number }; "ipv6": { "moved": number; "differs": number; "error": number; "flows": ({ "from": { "member": string; "pool": string; "region": string }; "to": { "member": string; "pool": string; "region": string }; "share": number })[]; "members": ({ "member": string; "pool": string; "region": string; "before": number; "after": number })[]; "countries": ({ "place": string; "moved": number; "movedOfPlace": number })[] | null; "countriesOmitted": number; "operators": ({ "place": string; "moved": number; "movedOfPlace": number })[] | null; "operatorsOmitted": number } } | null })[]; "omitted": number })[]; "later": ({ "kind": "health-check" | "pool" | "service" | "overlay" | "settings" | "redirects"; "subject": string; "tenant": string; "what": string; "names": (string)[]; "nameCount": number })[]; "warnings": (string)[]; "guardrail": string | null; "files": ({ "path": string; "text": string | null })[]; "diagnostics": ({ "code": string; "message": string; "help": string; "field": string; "file": string; "line": number })[] }
    }
  }
  '/api/v1/commits': {
    /** Several writes as one commit: all of them, or none */
    post: {
      params: Record<string, never>
      query: { dryRun?: boolean }
      body: { "requests": ({ "method": "POST" | "PUT" | "PATCH" | "DELETE"; "path": string; "body"?: unknown; "ifMatch"?: string })[] }
      answer: { "commit": string; "ids": (string)[] }
    }
  }
  '/api/v1/dns/tsig-keys': {
    /** Create a TSIG key; its secret is in this answer only */
    post: {
      params: Record<string, never>
      query: Record<string, never>
      body: { "name": string; "algorithm"?: string; "secret"?: string; "scope"?: string }
      answer: { "id": string; "tenantId": string; "name": string; "algorithm": string; "scope": string | null; "createdAt": number; "secret": string }
    }
    /** TSIG keys by name, without their secrets */
    get: {
      params: Record<string, never>
      query: { limit?: number; cursor?: string; name?: string }
      body: undefined
      answer: ({ "id": string; "tenantId": string; "name": string; "algorithm": string; "scope": string | null; "createdAt": number })[]
    }
  }
  '/api/v1/dns/tsig-keys/{id}': {
    /** Delete a TSIG key: no update with it is carried out any more */
    delete: {
      params: { id: string }
      query: Record<string, never>
      body: undefined
      answer: null
    }
  }
  '/api/v1/dns/txt-records': {
    /** Create a TXT record */
    post: {
      params: Record<string, never>
      query: Record<string, never>
      body: { "name": string; "value": string; "ttl"?: number }
      answer: { "id": string; "tenantId": string; "name": string; "value": string; "ttl": number; "createdAt": number; "hiddenBy": string | null }
    }
    /** TXT records by name, those of DNS UPDATE among them */
    get: {
      params: Record<string, never>
      query: { limit?: number; cursor?: string; name?: string }
      body: undefined
      answer: ({ "id": string; "tenantId": string; "name": string; "value": string; "ttl": number; "createdAt": number; "hiddenBy": string | null })[]
    }
  }
  '/api/v1/dns/txt-records/{id}': {
    /** Delete a TXT record */
    delete: {
      params: { id: string }
      query: Record<string, never>
      body: undefined
      answer: null
    }
  }
  '/api/v1/dns/written-records': {
    /** Records written at run time by name, of all types, and who wrote each */
    get: {
      params: Record<string, never>
      query: { limit?: number; cursor?: string; name?: string }
      body: undefined
      answer: ({ "id": string; "tenantId": string; "name": string; "type": string; "value": string; "ttl": number; "createdAt": number; "writtenBy": string; "hiddenBy": string | null })[]
    }
  }
  '/api/v1/dns/written-records/{id}': {
    /** Delete a record that was written at run time */
    delete: {
      params: { id: string }
      query: Record<string, never>
      body: undefined
      answer: null
    }
  }
  '/api/v1/alerts': {
    /** Channels by name, without their secrets, and how they do */
    get: {
      params: Record<string, never>
      query: { limit?: number; cursor?: string; name?: string }
      body: undefined
      answer: ({ "id": string; "tenantId": string | null; "scope": "tenant" | "platform"; "name": string; "kind": "webhook" | "email" | "slack" | "pagerduty"; "target": string; "settings": { "url"?: string; "host"?: string; "from"?: string; "to"?: (string)[]; "port"?: number; "security"?: "starttls" | "tls" | "none"; "username"?: string }; "secrets": (string)[]; "conditions": (string)[]; "minSeverity": "critical" | "error" | "warning" | "info"; "enabled": boolean; "createdAt": number; "updatedAt": number; "lastSentAt": number | null; "failures": number; "lastError": string; "queued": number; "dropped": number })[]
    }
    /** Create a channel */
    post: {
      params: Record<string, never>
      query: Record<string, never>
      body: { "name": string; "kind": "webhook" | "email" | "slack" | "pagerduty"; "settings": { "url"?: string; "secret"?: string; "host"?: string; "from"?: string; "to"?: (string)[]; "port"?: number; "security"?: "starttls" | "tls" | "none"; "username"?: string; "password"?: string; "routingKey"?: string }; "conditions"?: ("rollout-regression" | "pool-without-members" | "member-down" | "member-flapping" | "held-commit" | "geo-database-stale" | "licence" | "certificate" | "certificate-renewal" | "node-missing" | "node-degraded" | "drift" | "fleet-drift" | "fleet-degraded" | "delivery-stopped" | "discovery-source" | "zone-transfer" | "zone-push" | "zone-keys" | "disk")[]; "minSeverity"?: "critical" | "error" | "warning" | "info"; "enabled"?: boolean; "scope"?: "tenant" | "platform" }
      answer: { "id": string; "tenantId": string | null; "scope": "tenant" | "platform"; "name": string; "kind": "webhook" | "email" | "slack" | "pagerduty"; "target": string; "settings": { "url"?: string; "host"?: string; "from"?: string; "to"?: (string)[]; "port"?: number; "security"?: "starttls" | "tls" | "none"; "username"?: string }; "secrets": (string)[]; "conditions": (string)[]; "minSeverity": "critical" | "error" | "warning" | "info"; "enabled": boolean; "createdAt": number; "updatedAt": number; "lastSentAt": number | null; "failures": number; "lastError": string; "queued": number; "dropped": number; "secret"?: string }
    }
  }
  '/api/v1/alerts/events': {
    /** What is wrong now, and what was within 30 days, newest first */
    get: {
      params: Record<string, never>
      query: { state?: "open" | "resolved"; before?: string; limit?: number }
      body: undefined
      answer: ({ "id": string; "tenantId": string | null; "state": "open" | "resolved"; "condition": string; "severity": "critical" | "error" | "warning" | "info"; "subject": string; "node": string | null; "title": string; "detail": string; "openedAt": number; "resolvedAt": number | null })[]
    }
  }
  '/api/v1/alerts/silences': {
    /** Silences that hold */
    get: {
      params: Record<string, never>
      query: Record<string, never>
      body: undefined
      answer: ({ "id": string; "tenantId": string | null; "condition": string | null; "subject": string | null; "reason": string; "createdAt": number; "until": number })[]
    }
    /** Hold messages back for a time */
    post: {
      params: Record<string, never>
      query: Record<string, never>
      body: { "seconds": number; "condition"?: "rollout-regression" | "pool-without-members" | "member-down" | "member-flapping" | "held-commit" | "geo-database-stale" | "licence" | "certificate" | "certificate-renewal" | "node-missing" | "node-degraded" | "drift" | "fleet-drift" | "fleet-degraded" | "delivery-stopped" | "discovery-source" | "zone-transfer" | "zone-push" | "zone-keys" | "disk"; "subject"?: string; "reason"?: string; "scope"?: "tenant" | "platform" }
      answer: { "id": string; "tenantId": string | null; "condition": string | null; "subject": string | null; "reason": string; "createdAt": number; "until": number }
    }
  }
  '/api/v1/alerts/silences/{id}': {
    /** End a silence */
    delete: {
      params: { id: string }
      query: Record<string, never>
      body: undefined
      answer: null
    }
  }
  '/api/v1/alerts/{id}': {
    /** A channel, without its secrets, and how it does */
    get: {
      params: { id: string }
      query: Record<string, never>
      body: undefined
      answer: { "id": string; "tenantId": string | null; "scope": "tenant" | "platform"; "name": string; "kind": "webhook" | "email" | "slack" | "pagerduty"; "target": string; "settings": { "url"?: string; "host"?: string; "from"?: string; "to"?: (string)[]; "port"?: number; "security"?: "starttls" | "tls" | "none"; "username"?: string }; "secrets": (string)[]; "conditions": (string)[]; "minSeverity": "critical" | "error" | "warning" | "info"; "enabled": boolean; "createdAt": number; "updatedAt": number; "lastSentAt": number | null; "failures": number; "lastError": string; "queued": number; "dropped": number }
    }
    /** Change a channel; what is left out stays */
    put: {
      params: { id: string }
      query: Record<string, never>
      body: { "name"?: string; "settings"?: { "url"?: string; "secret"?: string; "host"?: string; "from"?: string; "to"?: (string)[]; "port"?: number; "security"?: "starttls" | "tls" | "none"; "username"?: string; "password"?: string; "routingKey"?: string }; "conditions"?: ("rollout-regression" | "pool-without-members" | "member-down" | "member-flapping" | "held-commit" | "geo-database-stale" | "licence" | "certificate" | "certificate-renewal" | "node-missing" | "node-degraded" | "drift" | "fleet-drift" | "fleet-degraded" | "delivery-stopped" | "discovery-source" | "zone-transfer" | "zone-push" | "zone-keys" | "disk")[]; "minSeverity"?: "critical" | "error" | "warning" | "info"; "enabled"?: boolean }
      answer: { "id": string; "tenantId": string | null; "scope": "tenant" | "platform"; "name": string; "kind": "webhook" | "email" | "slack" | "pagerduty"; "target": string; "settings": { "url"?: string; "host"?: string; "from"?: string; "to"?: (string)[]; "port"?: number; "security"?: "starttls" | "tls" | "none"; "username"?: string }; "secrets": (string)[]; "conditions": (string)[]; "minSeverity": "critical" | "error" | "warning" | "info"; "enabled": boolean; "createdAt": number; "updatedAt": number; "lastSentAt": number | null; "failures": number; "lastError": string; "queued": number; "dropped": number; "secret"?: string }
    }
    /** Delete a channel and what waits for it */
    delete: {
      params: { id: string }
      query: Record<string, never>
      body: undefined
      answer: null
    }
  }
  '/api/v1/alerts/{id}/test': {
    /** Send a test message by a channel, now and from this node, and say how it went */
    post: {
      params: { id: string }
      query: Record<string, never>
      body: undefined
      answer: { "delivered": boolean; "error": string; "milliseconds": number }
    }
  }
  '/api/v1/usage': {
    /** The caller's tenant by hours, both ends included; without a range the day so far */
    get: {
      params: Record<string, never>
      query: { from?: string; to?: string }
      body: undefined
      answer: ({ "tenantId": string; "period": string; "dnsQueries": number; "apiCalls": number })[]
    }
  }
  '/api/v1/tenants/{id}/usage': {
    /** One tenant by hours, both ends included; without a range the day so far */
    get: {
      params: { id: string }
      query: { from?: string; to?: string }
      body: undefined
      answer: ({ "tenantId": string; "period": string; "dnsQueries": number; "apiCalls": number })[]
    }
  }
  '/api/v1/unused': {
    /** Names, members, rules and redirects that no query has used for 30 days; TTLs to change */
    get: {
      params: Record<string, never>
      query: { days?: number }
      body: undefined
      answer: { "days": number; "from": number; "countedSince": number | null; "isWhole": boolean; "unknown": ({ "what": string; "reason": string })[]; "used": number; "unused": ({ "kind": string; "id": string; "name": string; "tenant": string; "path": string; "seenSince": number; "lastUsed": number | null; "note": string })[]; "unusedLeftOut": number; "ttls": ({ "id": string; "name": string; "tenant": string; "path": string; "ttl": number; "advisedTtl": number; "healthChanges": number; "commits": number | null })[] }
    }
  }
  '/api/v1/license': {
    /** The licence of the installation, and why it is as it is */
    get: {
      params: Record<string, never>
      query: Record<string, never>
      body: undefined
      answer: { "valid": boolean; "tier": string; "maxRps": number; "expiresAt": number; "licenseId": string; "customerId": string; "installId": string; "nodes": number; "status": "unlicensed" | "valid" | "trial" | "node-locked" | "invalid" | "rejected" | "expired" | "revoked"; "source": string | null; "enforced": boolean; "reason": string }
    }
    /** Apply a licence token: checked, kept for all nodes, in force at once */
    post: {
      params: Record<string, never>
      query: Record<string, never>
      body: { "token": string }
      answer: { "valid": boolean; "tier": string; "maxRps": number; "expiresAt": number; "licenseId": string; "customerId": string; "installId": string; "nodes": number; "status": "unlicensed" | "valid" | "trial" | "node-locked" | "invalid" | "rejected" | "expired" | "revoked"; "source": string | null; "enforced": boolean; "reason": string }
    }
  }
  '/api/v1/ws/token': {
    /** A token for one connection to the feed, soon */
    get: {
      params: Record<string, never>
      query: Record<string, never>
      body: undefined
      answer: { "token": string; "expiresAt": number }
    }
  }
  '/api/v1/ws': {
    /** The feed of events over a WebSocket, which the token opens */
    get: {
      params: Record<string, never>
      query: { token: string; revision?: string }
      body: undefined
      answer: null
    }
  }
  '/api/v1/settings': {
    /** All settings: of this node with where each comes from, and of the repository */
    get: {
      params: Record<string, never>
      query: Record<string, never>
      body: undefined
      answer: { "node": ({ "key": string; "value": unknown; "source": "file" | "environment" | "command line" | "default"; "origin": string; "isSecret": boolean; "needsRestart": boolean; "isPending": boolean })[]; "repository": { "defaults"?: Record<string, unknown>; "zones"?: (unknown)[]; "names"?: Record<string, unknown>; "mapFile"?: Record<string, unknown>; "asn"?: Record<string, unknown>; "geoip"?: Record<string, unknown>; "signals"?: Record<string, unknown>; "latency"?: Record<string, unknown>; "rateLimitExempt"?: (unknown)[]; "guardrails"?: Record<string, unknown> } | null }
    }
    /** Replace groups of the settings of the repository, by a commit */
    put: {
      params: Record<string, never>
      query: { dryRun?: boolean }
      body: { "defaults"?: Record<string, unknown> | null; "zones"?: (unknown)[] | null; "names"?: Record<string, unknown> | null; "mapFile"?: Record<string, unknown> | null; "asn"?: Record<string, unknown> | null; "geoip"?: Record<string, unknown> | null; "signals"?: Record<string, unknown> | null; "latency"?: Record<string, unknown> | null; "rateLimitExempt"?: (unknown)[] | null; "guardrails"?: Record<string, unknown> | null }
      answer: { "node": ({ "key": string; "value": unknown; "source": "file" | "environment" | "command line" | "default"; "origin": string; "isSecret": boolean; "needsRestart": boolean; "isPending": boolean })[]; "repository": { "defaults"?: Record<string, unknown>; "zones"?: (unknown)[]; "names"?: Record<string, unknown>; "mapFile"?: Record<string, unknown>; "asn"?: Record<string, unknown>; "geoip"?: Record<string, unknown>; "signals"?: Record<string, unknown>; "latency"?: Record<string, unknown>; "rateLimitExempt"?: (unknown)[]; "guardrails"?: Record<string, unknown> } | null }
    }
  }
  '/api/v1/cluster/nodes': {
    /** The nodes: what each answers from, how busy and how well it is */
    get: {
      params: Record<string, never>
      query: Record<string, never>
      body: undefined
      answer: ({ "name": string; "isSelf": boolean; "isMissing": boolean; "role": "control" | "dns" | "agent"; "labels": Record<string, string>; "version": string; "startedAt": number; "seenAt": number; "commit": string | null; "digest": string | null; "seq": number; "ageSeconds": number | null; "load": { "busyRatio": number; "queries": number } | null; "health": { "status": "ok" | "degraded" | "starting"; "reasons": (string)[]; "members": { "healthy": number; "unhealthy": number; "warming": number; "unprobed"?: number; "unresolved"?: number } }; "clockOffsetMs": number | null; "refusals": ({ "digest": string; "code": string; "reason": string; "at": number })[]; "isKnown": boolean; "drift": ("missing" | "behind" | "split-seq" | "clock" | "refusing" | "name-taken")[]; "canRestart": boolean })[]
    }
  }
  '/api/v1/cluster/nodes/{name}/restart': {
    /** Restart a node: it stops as at SIGTERM, and its supervisor starts it again */
    post: {
      params: { name: string }
      query: Record<string, never>
      body: undefined
      answer: { "name": string; "status": "restarting" }
    }
  }
  '/api/v1/bgp': {
    /** Addresses that this node announces by BGP, or why it does not */
    get: {
      params: Record<string, never>
      query: Record<string, never>
      body: undefined
      answer: ({ "node": string; "daemon": string; "addresses": (string)[]; "isAnnounced": boolean; "since": number; "reason": string | null; "holdDownSeconds": number; "driver": { "isReachable": boolean | null; "announces": string | null; "reply": string; "at": number | null }; "selfQuery": { "address": string; "fault": string | null; "milliseconds": number; "at": number } | null; "silentLooks": number; "isGuarded": boolean })[]
    }
  }
  '/api/v1/deliveries': {
    /** How far the newest change has come in the fleet */
    get: {
      params: Record<string, never>
      query: Record<string, never>
      body: undefined
      answer: ({ "channel": string; "phase": "done" | "rolling" | "paused" | "held" | "returned" | "aborted"; "good": { "seq": number; "digest": string; "commit": string }; "target": { "seq": number; "digest": string; "commit": string } | null; "waves": ({ "nodes": string | null; "percent": number | null; "holdSeconds": number; "hasBegun": boolean; "adopted": number; "waiting": number; "refused": number; "silent": number; "isShadow": boolean; "shadow": { "compared": number; "changed": number } | null })[]; "promised": string; "onFailure": string | null; "phaseSince": number; "verdict": { "gate": string; "wave": number; "value": number; "limit": number; "at": number } | null; "waitsFor": string; "decidedBy": string; "fault": string })[]
    }
  }
  '/api/v1/deliveries/{channel}/pause': {
    /** Hold a delivery: no wave begins until it is resumed; gates are looked at all the same */
    post: {
      params: { channel: string }
      query: Record<string, never>
      body: undefined
      answer: { "channel": string; "phase": "done" | "rolling" | "paused" | "held" | "returned" | "aborted"; "good": { "seq": number; "digest": string; "commit": string }; "target": { "seq": number; "digest": string; "commit": string } | null; "waves": ({ "nodes": string | null; "percent": number | null; "holdSeconds": number; "hasBegun": boolean; "adopted": number; "waiting": number; "refused": number; "silent": number; "isShadow": boolean; "shadow": { "compared": number; "changed": number } | null })[]; "promised": string; "onFailure": string | null; "phaseSince": number; "verdict": { "gate": string; "wave": number; "value": number; "limit": number; "at": number } | null; "waitsFor": string; "decidedBy": string; "fault": string }
    }
  }
  '/api/v1/deliveries/{channel}/resume': {
    /** Go on with a paused delivery, or begin anew with a stopped one */
    post: {
      params: { channel: string }
      query: Record<string, never>
      body: undefined
      answer: { "channel": string; "phase": "done" | "rolling" | "paused" | "held" | "returned" | "aborted"; "good": { "seq": number; "digest": string; "commit": string }; "target": { "seq": number; "digest": string; "commit": string } | null; "waves": ({ "nodes": string | null; "percent": number | null; "holdSeconds": number; "hasBegun": boolean; "adopted": number; "waiting": number; "refused": number; "silent": number; "isShadow": boolean; "shadow": { "compared": number; "changed": number } | null })[]; "promised": string; "onFailure": string | null; "phaseSince": number; "verdict": { "gate": string; "wave": number; "value": number; "limit": number; "at": number } | null; "waitsFor": string; "decidedBy": string; "fault": string }
    }
  }
  '/api/v1/deliveries/{channel}/promote': {
    /** Give the target to all nodes now, whatever the gates say */
    post: {
      params: { channel: string }
      query: Record<string, never>
      body: undefined
      answer: { "channel": string; "phase": "done" | "rolling" | "paused" | "held" | "returned" | "aborted"; "good": { "seq": number; "digest": string; "commit": string }; "target": { "seq": number; "digest": string; "commit": string } | null; "waves": ({ "nodes": string | null; "percent": number | null; "holdSeconds": number; "hasBegun": boolean; "adopted": number; "waiting": number; "refused": number; "silent": number; "isShadow": boolean; "shadow": { "compared": number; "changed": number } | null })[]; "promised": string; "onFailure": string | null; "phaseSince": number; "verdict": { "gate": string; "wave": number; "value": number; "limit": number; "at": number } | null; "waitsFor": string; "decidedBy": string; "fault": string }
    }
  }
  '/api/v1/deliveries/{channel}/abort': {
    /** Give all nodes the last good bundle again, under a new seq */
    post: {
      params: { channel: string }
      query: Record<string, never>
      body: undefined
      answer: { "channel": string; "phase": "done" | "rolling" | "paused" | "held" | "returned" | "aborted"; "good": { "seq": number; "digest": string; "commit": string }; "target": { "seq": number; "digest": string; "commit": string } | null; "waves": ({ "nodes": string | null; "percent": number | null; "holdSeconds": number; "hasBegun": boolean; "adopted": number; "waiting": number; "refused": number; "silent": number; "isShadow": boolean; "shadow": { "compared": number; "changed": number } | null })[]; "promised": string; "onFailure": string | null; "phaseSince": number; "verdict": { "gate": string; "wave": number; "value": number; "limit": number; "at": number } | null; "waitsFor": string; "decidedBy": string; "fault": string }
    }
  }
  '/api/v1/discovery/sources': {
    /** The sources that members are discovered by, as this node sees them */
    get: {
      params: Record<string, never>
      query: Record<string, never>
      body: undefined
      answer: ({ "name": string; "type": string; "tenants": (string)[]; "state": "ok" | "asking" | "failing" | "held" | "unused"; "foundAt": number | null; "error": string; "note": string; "members": number; "held": number; "heldSince": number | null })[]
    }
  }
  '/api/v1/discovery/sources/{name}/accept': {
    /** Let go the members that a source does not find any more, though they are many */
    post: {
      params: { name: string }
      query: Record<string, never>
      body: undefined
      answer: { "name": string; "removed": number }
    }
  }
  '/api/v1/zone-transfers': {
    /** Zones that come from other servers, as this node sees them */
    get: {
      params: Record<string, never>
      query: Record<string, never>
      body: undefined
      answer: ({ "zone": string; "primaries": (string)[]; "state": "asking" | "current" | "failing" | "held" | "refused" | "expired"; "serial": number | null; "offered": number | null; "error": string; "contactAt": number | null; "transfers": number; "failures": number })[]
    }
  }
  '/api/v1/zone-transfers/{zone}/accept': {
    /** Transfer a zone whole, and take it whatever its serial and the guardrails say */
    post: {
      params: { zone: string }
      query: Record<string, never>
      body: { "reason": string }
      answer: { "zone": string; "serial": number }
    }
  }
  '/api/v1/zone-pushes': {
    /** The zones that are pushed to other servers, and how each stands */
    get: {
      params: Record<string, never>
      query: Record<string, never>
      body: undefined
      answer: ({ "name": string; "type": string; "zone": string; "state": "waiting" | "synced" | "pending" | "held" | "conflict" | "failing"; "node": string | null; "lookedAt": number | null; "writtenAt": number | null; "error": string; "plan": string; "adds": number; "deletes": number; "ttlChanges": number; "deletesMax": number; "same": number; "missing": number; "foreign": number; "conflicts": number; "skipped": number; "written": number; "notes": (string)[] })[]
    }
  }
  '/api/v1/zone-pushes/{name}/plan': {
    /** What a push would write now */
    get: {
      params: { name: string }
      query: Record<string, never>
      body: undefined
      answer: { "digest": string; "adds": number; "deletes": number; "ttlChanges": number; "deletesMax": number; "changes": ({ "name": string; "type": string; "ttl": number; "adds": (string)[]; "deletes": (string)[] })[]; "foreign": ({ "name": string; "type": string; "values": (string)[] })[]; "conflicts": ({ "name": string; "type": string; "why": string })[]; "skipped": ({ "name": string; "type": string; "why": string })[]; "counts": { "changes": number; "foreign": number; "conflicts": number; "skipped": number; "same": number; "adoptable": number } }
    }
  }
  '/api/v1/zone-pushes/{name}/apply': {
    /** Have a zone pushed */
    post: {
      params: { name: string }
      query: Record<string, never>
      body: { "plan"?: string; "adopt"?: boolean }
      answer: { "name": string }
    }
  }
  '/api/v1/gitops/status': {
    /** The commit seen, the one accepted, the one answered from, and why they differ */
    get: {
      params: Record<string, never>
      query: Record<string, never>
      body: undefined
      answer: { "branch": string; "head": string | null; "accepted": string | null; "active": string | null; "sync": "starting" | "synced" | "pending" | "held" | "unreachable"; "reason": { "code": string; "message": string; "sinceMs": number } | null; "note": string | null; "diagnostics": ({ "severity": "error" | "warning" | "note"; "code": string; "message": string; "help": string; "file": string; "line": number; "column": number; "text"?: string })[]; "lookedFromMs": number | null; "node": { "channel": string; "seq": number; "serial": number; "digest": string | null; "issuedAtMs": number | null; "ageSeconds": number | null; "expired": boolean; "swapCount": number; "lastSwapMs": number | null; "refused": { "code": string; "message": string; "seq": number; "digest": string } | null } }
    }
  }
  '/api/v1/sync': {
    /** Have the node look at its branch at once, as a webhook or after a push */
    post: {
      params: Record<string, never>
      query: Record<string, never>
      body: undefined
      answer: { "askedAtMs": number }
    }
  }
  '/metrics': {
    /** What the node counts, for Prometheus */
    get: {
      params: Record<string, never>
      query: Record<string, never>
      body: undefined
      answer: string
    }
  }
  '/api/v1/audit': {
    /** Calls that changed something, or tried to, the newest first */
    get: {
      params: Record<string, never>
      query: { limit?: number; cursor?: string; from?: number; to?: number; actor?: string; method?: "POST" | "PUT" | "PATCH" | "DELETE"; path?: string; refused?: boolean }
      body: undefined
      answer: ({ "id": string; "at": number; "method": string; "path": string; "status": number; "actor": string; "remote": string; "durationMs": number; "tenantId": string; "requestId": string | null; "userId": string | null; "userEmail": string | null; "note": string | null })[]
    }
  }
  '/api/v1/client-regions': {
    /** Where the queries of the last hour came from, by country */
    get: {
      params: Record<string, never>
      query: Record<string, never>
      body: undefined
      answer: { "hasDatabase": boolean; "seconds": number; "sampled": number; "countries": ({ "country": string; "queries": number })[] }
    }
  }
  '/bundles/channels/{name}': {
    /** The signed record of a channel: which bundle serves */
    get: {
      params: { name: string }
      query: { wait?: number }
      body: undefined
      answer: string
    }
    /** The same for a node that says how it is */
    post: {
      params: { name: string }
      query: { wait?: number }
      body: { "tag": string | null; "report": Record<string, unknown> }
      answer: string | null
    }
  }
  '/bundles/health': {
    /** What a probe agent finds of members */
    post: {
      params: Record<string, never>
      query: Record<string, never>
      body: { "node": string; "site": string; "changed": (Record<string, unknown>)[]; "withdrawn": (Record<string, unknown>)[] }
      answer: { "instance": string }
    }
  }
  '/bundles/journal': {
    /** What the journal of a node of the role dns has */
    post: {
      params: Record<string, never>
      query: Record<string, never>
      body: { "node": string; "run": string; "number": number; "at": number; "octets": string }
      answer: { "bytes": number }
    }
  }
  '/bundles/keys': {
    /** The keys of signed zones, sealed to the node that asks */
    post: {
      params: Record<string, never>
      query: Record<string, never>
      body: { "report": Record<string, unknown>; "revision": number }
      answer: string | null
    }
  }
  '/bundles/certificate': {
    /** The certificate of the ACME server, sealed to the node that asks */
    post: {
      params: Record<string, never>
      query: Record<string, never>
      body: { "report": Record<string, unknown>; "revision": number }
      answer: string | null
    }
  }
  '/bundles/{digest}': {
    /** A signed bundle, by its digest */
    get: {
      params: { digest: string }
      query: Record<string, never>
      body: undefined
      answer: string
    }
  }
  '/bundles/deltas/{digest}/{from}': {
    /** What makes a bundle of another one that a node has */
    get: {
      params: { digest: string; from: string }
      query: Record<string, never>
      body: undefined
      answer: string
    }
  }
  '/': {
    /** To where people begin: the dashboard of the node, or the page of this reference */
    get: {
      params: Record<string, never>
      query: Record<string, never>
      body: undefined
      answer: null
    }
  }
  '/api/v1/openapi.json': {
    /** This API as an OpenAPI 3.1 document */
    get: {
      params: Record<string, never>
      query: Record<string, never>
      body: undefined
      answer: Record<string, unknown>
    }
  }
  '/api/v1/docs': {
    /** The same as a page, in which each route can be tried */
    get: {
      params: Record<string, never>
      query: Record<string, never>
      body: undefined
      answer: string
    }
  }
  '/api/v1/docs/{file}': {
    /** A file of that page */
    get: {
      params: { file: string }
      query: Record<string, never>
      body: undefined
      answer: string
    }
  }
}
