/** The fixed address that docker-compose.yml gives nginx, and TRUSTED_PROXIES names. */
export const LOAD_BALANCER = '172.30.99.2';
/** The names of other containers; all of them are this machine. */
export const HOSTS = '127.0.0.1 localhost api postgres redis minio minio.localhost\n';
