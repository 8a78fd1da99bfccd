import { plainToInstance } from 'class-transformer';
import { validateSync } from 'class-validator';
import { MediaStoreConfig } from './media-store-config.js';

/** Reads variables as the configuration loader does: text in, checked instance or the names of the wrong ones out. */
function read(variables: Record<string, string>): { config: MediaStoreConfig; wrong: string[] } {
  const config = plainToInstance(MediaStoreConfig, variables, { exposeDefaultValues: true });
  return { config, wrong: validateSync(config).map(({ property }) => property) };
}

const S3 = { MEDIA_S3_BUCKET: 'media', MEDIA_S3_ACCESS_KEY_ID: 'id', MEDIA_S3_SECRET_ACCESS_KEY: 'secret' };

describe('the configuration of the media store', () => {
  it('needs no variables: files are then in the data folder', () => {
    const { config, wrong } = read({});
    expect(wrong).toEqual([]);
    expect(config).toMatchObject({
      MEDIA_MAX_FILE_MB: 500,
      MEDIA_DOWNLOAD_TIMEOUT_SECONDS: 300,
      MEDIA_FETCH_ALLOW: [],
    });
    expect(config.MEDIA_S3_BUCKET).toBeUndefined();
  });

  it('accepts a complete S3 group', () => {
    expect(read(S3).wrong).toEqual([]);
    expect(read({ ...S3, MEDIA_S3_ENDPOINT: 'http://minio:9000' }).wrong).toEqual([]);
  });

  it.each([
    [{ MEDIA_S3_BUCKET: 'media' }, ['MEDIA_S3_ACCESS_KEY_ID', 'MEDIA_S3_SECRET_ACCESS_KEY']],
    [{ MEDIA_S3_ENDPOINT: 'http://minio:9000' }, Object.keys(S3)],
    [{ MEDIA_S3_PUBLIC_BASE_URL: 'https://cdn.example.com' }, Object.keys(S3)],
    [{ ...S3, MEDIA_S3_ENDPOINT: 'minio:9000' }, ['MEDIA_S3_ENDPOINT']],
    [{ MEDIA_MAX_FILE_MB: '0' }, ['MEDIA_MAX_FILE_MB']],
    [{ MEDIA_MAX_FILE_MB: 'many' }, ['MEDIA_MAX_FILE_MB']],
    [{ MEDIA_INSPECT_TIMEOUT_SECONDS: '61' }, ['MEDIA_INSPECT_TIMEOUT_SECONDS']],
    [{ MEDIA_FETCH_ALLOW: '10.0.0.0/8,nonsense' }, ['MEDIA_FETCH_ALLOW']],
    [{ MEDIA_LINK_SECRETS: 'short' }, ['MEDIA_LINK_SECRETS']],
  ])('refuses %j and names what is wrong', (variables, names) => {
    expect(read(variables).wrong.toSorted()).toEqual(names.toSorted());
  });

  it('reads lists separated by commas', () => {
    const { config, wrong } = read({
      MEDIA_FETCH_ALLOW: '10.0.0.0/8, [::1]:9000,media.local:9000 ,',
      MEDIA_LINK_SECRETS: 'a-newer-secret-of-ours,an-older-secret-of-ours',
    });
    expect(wrong).toEqual([]);
    expect(config.MEDIA_FETCH_ALLOW).toEqual(['10.0.0.0/8', '[::1]:9000', 'media.local:9000']);
    expect(config.MEDIA_LINK_SECRETS).toHaveLength(2);
  });
});
